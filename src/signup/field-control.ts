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

/** The value that the ticked box of a checkbox field sends. */
const tickedValue = 'true'

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

/** The attributes of the field's control, by name. An empty value is a boolean attribute. */
export function controlAttributes(field: Field): Readonly<Record<string, string>> {
  return { ...typeAttributes(field), ...(field.required && { required: '' }) }
}

/** Text that is written from left to right in every language. */
const ltr = { dir: 'ltr', autocapitalize: 'none', spellcheck: 'false' }

function typeAttributes(field: Field): Readonly<Record<string, string>> {
  const { type, name } = field
  switch (type) {
    case 'text': {
      const plain = name.toLowerCase().replaceAll(/[-_]/g, '')
      const autocomplete = purposes.find(([names]) => names.test(plain))?.[1]
      const maxlength = String(field.maxLength)
      return { type: 'text', maxlength, ...(autocomplete !== undefined && { autocomplete }) }
    }
    case 'textarea':
      return { rows: '4', maxlength: String(field.maxLength) }
    case 'number': {
      const { min, max } = field
      const range = {
        ...(min !== undefined && { min: String(min) }),
        ...(max !== undefined && { max: String(max) }),
      }
      return { type, step: 'any', inputmode: 'decimal', dir: 'ltr', ...range }
    }
    case 'url':
      return { type, inputmode: 'url', autocomplete: 'url', ...ltr }
    case 'phone':
      return { type: 'tel', inputmode: 'tel', autocomplete: 'tel', dir: 'ltr' }
    case 'date':
      return /^birth[-_]?(day|date)$/i.test(name) ? { type, autocomplete: 'bday' } : { type }
    case 'choice':
    case 'choices':
      return {}
    case 'checkbox':
      return { type, value: tickedValue }
  }
}

/** What browsers may fill in (`autocomplete`), by the field's name in small letters, without `_` and `-`. */
const purposes: readonly (readonly [names: RegExp, purpose: string])[] = [
  [/^(company|organi[sz]ation)$/, 'organization'],
  [/^jobtitle$/, 'organization-title'],
  [/^firstname$/, 'given-name'],
  [/^lastname$/, 'family-name'],
  [/^nickname$/, 'nickname'],
  [/^street$/, 'street-address'],
  [/^city$/, 'address-level2'],
  [/^(zip|zipcode|post(al)?code)$/, 'postal-code'],
  [/^country$/, 'country-name'],
]
