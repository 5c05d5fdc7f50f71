import type { Options } from './options.ts'

const told = new Set<string>()

/** Writes a line into the console for the page's author, once. */
export function tell(text: string): void {
  if (!told.has(text)) console.error(`Rollcall: ${text}`)
  told.add(text)
}

/** Where the options of a form are written: a `<rollcall-form>`, or a form of the page's own. */
export type Place = HTMLElement & { readonly options?: Options }

/** What an option is called there: `data-text-submit` on a script tag, `texts.submit` in a script. */
export function nameAt(place: Place, option: string): string {
  const { options = {} } = place
  if (place.hasAttribute('data-script') || place.hasAttribute(`data-${option}`)) {
    return `data-${option}`
  }
  const isInScript = place instanceof HTMLFormElement || Object.keys(options).length > 0
  if (!isInScript || place.hasAttribute(option)) return option
  const [, group, key = ''] = /^(text|field)-(.+)$/.exec(option) ?? []
  if (group === 'field') return `fields.hidden.${key}`
  return group
    ? `texts.${key.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase())}`
    : option
}

/** `emailMissing` as in an attribute: `email-missing`. */
export function kebab(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}
