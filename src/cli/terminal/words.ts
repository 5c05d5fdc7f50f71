import { InvalidArgumentError } from '@commander-js/extra-typings'
import { suggest } from '../../signup/suggest.ts'

/** A number as people read it: "12,345". */
export function digits(count: number): string {
  return count.toLocaleString('en-US')
}

/** A number of things in words: "1 signup", "12,345 signups". */
export function counted(count: number, thing: string): string {
  return `${digits(count)} ${thing}${count === 1 ? '' : 's'}`
}

/** At most twenty names, and how many others there are. */
export function listOf(names: readonly string[]): string {
  const rest = names.length - 20
  return names.slice(0, 20).join(', ') + (rest > 0 ? ` and ${rest} others` : '')
}

/** The name that was probably meant, or what there is. @param kind such as `Tabs` */
export function nameHint(name: string, known: readonly string[], kind: string): string {
  const meant = suggest(name, known)
  return meant === undefined ? `${kind} are ${listOf(known)}.` : `Did you mean ${meant}?`
}

/** The same of tabs, but for those that somebody called by an address. */
export function tabHint(given: string, tabs: Iterable<string>): string {
  const named = [...tabs].filter((tab) => !tab.includes('@'))
  return nameHint(
    given,
    named.map((tab) => JSON.stringify(tab)),
    'Tabs',
  )
}

export function parseSeconds(text: string): number {
  if (/^\d{1,5}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('Give whole seconds, such as 60.')
}
