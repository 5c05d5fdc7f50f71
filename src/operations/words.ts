import { digits } from '../platform/digits.ts'

/** A number of things in words: "1 signup", "12,345 signups". */
export function counted(count: number, thing: string): string {
  return `${digits(count)} ${thing}${count === 1 ? '' : 's'}`
}

/** At most twenty names, and how many others there are. */
export function listOf(names: readonly string[]): string {
  const rest = names.length - 20
  return names.slice(0, 20).join(', ') + (rest > 0 ? ` and ${rest} others` : '')
}
