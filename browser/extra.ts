import type { Options } from './options.ts'

type Entry = readonly [name: string, value: string]

/** Stays within the limits of the service, so that no page address makes a signup fail. */
const utmMax = 10
const utmCharactersMax = 200

/**
 * The fields that the options add to what the visitor types.
 *
 * @param form its own fields need no entry
 * @param arrivedWith the query of the page's address when the page was opened
 */
export function extraEntries(
  options: Options,
  form: HTMLFormElement,
  arrivedWith: string,
): Entry[] {
  const { tab, source, tags, hidden, utm } = options
  const plain = { sheetTab: tab, source, tags: tags?.toString() }
  const given = Object.entries(plain).filter((entry): entry is [string, string] => !!entry[1])
  const metadata = [...Object.entries(hidden ?? {}), ...(utm ? utmEntries(arrivedWith) : [])]
  const others = metadata.filter(([name]) => !form.elements.namedItem(name))
  return [...given, ...others.map(([name, value]) => [`metadata[${name}]`, value] as const)]
}

/** Fills the declared fields that no visitor sees: `utm_…` from the page's address, and the page before. */
export function collect(form: HTMLFormElement, arrivedWith: string): void {
  for (const input of form.querySelectorAll<HTMLInputElement>('[data-collect]')) {
    const { name, dataset } = input
    const value =
      name === 'referrer' ? document.referrer.split(/[?#]/)[0] : queries(arrivedWith).get(name)
    input.value ||= (value ?? '').slice(0, Number(dataset['collect']))
  }
}

const queries = (arrivedWith: string) =>
  new Map(new URLSearchParams(`${arrivedWith}&${location.search.slice(1)}`))

function utmEntries(arrivedWith: string): Entry[] {
  return [...queries(arrivedWith)]
    .filter(([name, value]) => /^utm_\w{1,40}$/.test(name) && value)
    .slice(0, utmMax)
    .map(([name, value]) => [name, value.slice(0, utmCharactersMax)])
}
