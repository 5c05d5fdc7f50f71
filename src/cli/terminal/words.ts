import { InvalidArgumentError } from '@commander-js/extra-typings'
import { listOf } from '../../operations/words.ts'
import { suggest } from '../../platform/suggest.ts'

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
