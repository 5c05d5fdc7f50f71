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
  readonly fields?: {
    /** Whether to ask for a name, too. */
    readonly name?: boolean | 'required'
    /** Hidden fields, which go into Metadata. */
    readonly hidden?: Readonly<Record<string, string>>
  }
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
  readonly utm?: boolean
  /** The address of the service; when absent, the server of the script. */
  readonly server?: string
}

/** The options with a single value. */
export const simpleOptions = 'site|tab|source|tags|language|theme|redirect|server|name|consent|utm'
/** The options that continue with a name, such as `data-text-submit`. */
export const optionGroups = 'text|field'
const known = new RegExp(`^data-(?:(${simpleOptions})|(${optionGroups})-(.+))$`)

/** Whether the attribute of a script tag is an option. */
export function isOption(attribute: string): boolean {
  return known.test(attribute)
}

/** Reads the options from an element's attributes, with or without `data-`. `more` wins over them. */
export function optionsOf(element: Element, more: Options): Options {
  const simple: Record<string, string> = {}
  const texts: Record<string, string> = {}
  const hidden: Record<string, string> = {}
  for (const { name: attribute, value } of element.attributes) {
    const [, option, group, key] = known.exec(`data-${attribute.replace(/^data-/, '')}`) ?? []
    if (option) simple[option] = value
    else if (key && group === 'field') hidden[key] = value
    else if (key) texts[key.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase())] = value
  }
  const { name, utm, ...rest } = simple
  return {
    utm: isOn(utm),
    ...rest,
    ...more,
    texts: { ...texts, ...more.texts },
    fields: { name: name === 'required' ? name : isOn(name), hidden, ...more.fields },
  }
}

/** Whether a boolean attribute is on. As in HTML, its presence turns it on; `false` turns it off. */
function isOn(value: string | undefined): boolean {
  return value !== undefined && value !== 'false'
}
