import { editDistance } from '../src/signup/edit-distance.ts'
import { optionGroups, simpleOptions } from './options.ts'
import { kebab } from './tell.ts'

/** `scripts/build-browser.js` puts the names of all texts here, so that the script has no texts. */
declare const textNames: readonly string[]

/** Longer names are not typing errors. The cost of comparing is the product of both lengths. */
const charactersMax = 40

/** What people write for an option that has another name. */
const otherNames = {
  'text-title': 'heading headline',
  'text-text': 'description intro subtitle',
  'text-submit': 'button label cta button-text text-button',
  'text-done': 'success thanks thank-you',
  'text-email': 'placeholder',
  language: 'lang locale',
  tab: 'sheet sheet-tab sheettab list',
  'field-…': 'hidden metadata',
  redirect: 'next redirect-url',
  server: 'url host endpoint api',
  theme: 'mode color-scheme',
  '--rollcall-accent': 'accent color colour primary',
}

/** Every text that a page can replace, by its key. Those about declared fields are loaded with them. */
export const allTextKeys = [
  ...textNames,
  ...'valueMissing choiceMissing textTooLong numberWrong numberTooLow'.split(' '),
  ...'numberTooHigh urlWrong dateWrong phoneWrong'.split(' '),
]

/** What each name means, the names of the options first. */
const meanings = new Map([
  ...simpleOptions.split('|').map((name) => [name, name] as const),
  ...optionGroups.split('|').flatMap((group) => {
    return [group, `${group}s`].map((name) => [name, `${group}-…`] as const)
  }),
  ...allTextKeys.map((key) => [`text-${kebab(key)}`, `text-${kebab(key)}`] as const),
])
for (const key of textNames) {
  if (!meanings.has(kebab(key))) meanings.set(kebab(key), `text-${kebab(key)}`)
}
for (const [meant, names] of Object.entries(otherNames)) {
  for (const name of names.split(' ')) meanings.set(name, meant)
}

/** The options that an unknown name was probably meant to be: `tab` and `tags` for `tabs`. */
export function optionsMeantBy(name: string): string[] {
  const [, group = '', rest = ''] = /^([^-]+)-(.+)$/.exec(name) ?? []
  const isField = rest && nearest(group, ['field', 'text'])[0] === 'field'
  if (isField) return [`field-${rest}`]
  const near = nearest(kebab(name), [...meanings.keys()])
  return [...new Set(near.map((it) => meanings.get(it) ?? it))]
}

/** The words with the fewest differences, if these look like a typing error. */
export function nearest(typed: string, words: readonly string[]): string[] {
  if (typed.length > charactersMax) return []
  const differencesOf = (word: string) => editDistance(typed.toLowerCase(), word.toLowerCase())
  const fewest = Math.min(...words.map(differencesOf))
  const most = Math.max(1, Math.floor(typed.length / 3))
  return fewest > most ? [] : words.filter((word) => differencesOf(word) === fewest)
}

/** The end of a line that asks whether one of these was meant. */
export function didYouMean(meant: readonly string[]): string {
  return meant[0] ? ` Did you mean ${meant.join(' or ')}?` : ''
}
