import type { FieldTexts } from '../src/pages/field-messages.ts'
import type { Texts } from './texts.ts'

export interface Options {
  /** The site of the service; when absent, the one that the script was loaded for. */
  readonly site?: string
  /** The spreadsheet's tab; when absent, the service's default tab. */
  readonly tab?: string
  /** The Source column; when absent, `embed`. */
  readonly source?: string
  /** A list, or one text with commas between the tags. */
  readonly tags?: string | readonly string[]
  /** Whether to ask for a name, too; `required` when it must be given. When absent, the site tells. */
  readonly name?: boolean | string
  /** Hidden fields, which go into Metadata, and values of declared fields. */
  readonly hidden?: Readonly<Record<string, string>>
  /** These two may also be here. */
  readonly fields?: Pick<Options, 'name' | 'hidden'>
  readonly texts?: Partial<Texts & FieldTexts>
  /** The language (BCP 47); when absent, the language of the page or else of the browser. */
  readonly language?: string
  /** `light` or `dark`; any other value follows the background behind the form. */
  readonly theme?: string
  /** The text beside a consent checkbox; when absent, the service's text. Not for `enhance`. */
  readonly consent?: string
  /** The page to open after signing up; when absent, a message replaces the form. */
  readonly redirect?: string
  /** Whether the `utm_…` parameters of the page's address go into Metadata. */
  readonly utm?: boolean | string
  /** The address of the service; when absent, the server of the script. */
  readonly server?: string
}

/** The options with a single value. */
export const simpleOptions = 'site|tab|source|tags|language|theme|redirect|server|name|consent|utm'
/** The options that continue with a name, such as `data-text-submit`. */
export const optionGroups = 'text|field'
const known = new RegExp(`^(?:data-)?(?:(${simpleOptions})|(${optionGroups})-(.+))$`)

/** Whether the attribute is an option, with or without `data-`. */
export function isOption(attribute: string): boolean {
  return known.test(attribute)
}

/** Reads the options from an element's attributes. `more` wins over them. */
export function optionsOf(element: Element, more: Options): Options {
  const single: Record<string, string> = {}
  const texts: Record<string, string> = {}
  const hidden: Record<string, string> = {}
  for (const { name: attribute, value } of element.attributes) {
    const [, option, group, key = ''] = known.exec(attribute) ?? []
    if (group === 'field') hidden[key] = value
    else if (group) texts[key.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase())] = value
    else if (option) single[option] = value
  }
  const all = { ...single, hidden, ...more, texts: { ...texts, ...more.texts } }
  return { ...all, ...all.fields }
}

/** Whether an option of two or three values is on. As in HTML, its presence turns it on; `false` turns it off. */
export function isOn(value: boolean | string | undefined): boolean {
  return `${value ?? false}` !== 'false'
}
