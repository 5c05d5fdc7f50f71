import { type ChoiceField, type Field, optionsOf } from './field.ts'

/** The most options that are shown as radio buttons; more make a list to choose from. */
const radiosMax = 4
const rowCharactersMax = 39

/** Whether all options are shown, and not in a list that opens. */
export function areOptionsShown({ type, options }: ChoiceField): boolean {
  return type === 'choices' || options.length <= radiosMax
}

/** Whether the buttons or boxes of a field fit into one row on a phone. Each takes the space of six letters itself. */
export function fitInRow(field: ChoiceField): boolean {
  const options = optionsOf(field)
  return options.join('').length + 6 * options.length <= rowCharactersMax
}

/**
 * The most characters that a field takes which forms fill by themselves and do not show; undefined for
 * other fields. A text named `utm_…` comes from the page's address, `referrer` from the page that led
 * there. A required one is shown, because the visitor could not mend it otherwise.
 */
export function collectedLength(field: Field): number | undefined {
  const isCollected = !field.required && /^(utm_|referrer$)/.test(field.name)
  return isCollected && field.type === 'text' ? field.maxLength : undefined
}

/** The part of a text that such a field takes, as no visitor could shorten it. Undefined for other fields. */
export function collectedText(field: Field, text: string): string | undefined {
  const charactersMax = collectedLength(field)
  return charactersMax === undefined ? undefined : text.slice(0, charactersMax)
}

/** The address of a page without query and fragment, which may be personal; empty when it is none. */
export function pageAddress(address: string): string {
  const url = URL.parse(address)
  return url && /^https?:$/.test(url.protocol) ? url.origin + url.pathname : ''
}
