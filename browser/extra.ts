import type { Options } from './options.ts'

type Entry = readonly [name: string, value: string]

/** Stays within the limits of the service, so that no page address makes a signup fail. */
const utmMax = 10
const utmCharactersMax = 200

/**
 * The fields that the options add to what the visitor types.
 *
 * @param arrivedWith the query of the page's address when the page was opened
 */
export function extraEntries(options: Options, arrivedWith: string): Entry[] {
  const { tab, source, tags, fields, utm } = options
  const plain = { sheetTab: tab, source, tags: tags?.toString() }
  const given = Object.entries(plain).filter((entry): entry is [string, string] => !!entry[1])
  const metadata = [
    ...Object.entries(fields?.hidden ?? {}),
    ...(utm ? utmEntries(arrivedWith) : []),
  ]
  return [...given, ...metadata.map(([name, value]) => [`metadata[${name}]`, value] as const)]
}

function utmEntries(arrivedWith: string): Entry[] {
  const both = new URLSearchParams(`${arrivedWith}&${location.search.slice(1)}`)
  return [...new Map(both)]
    .filter(([name, value]) => /^utm_\w{1,40}$/.test(name) && value)
    .slice(0, utmMax)
    .map(([name, value]) => [name, value.slice(0, utmCharactersMax)])
}
