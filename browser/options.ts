import type { Texts } from './texts.ts'

export interface Options {
  /** The spreadsheet's tab; absent: the service's default. */
  readonly tab?: string
  /** The Source column; absent: `embed`. */
  readonly source?: string
  /** A list, or one text with commas between the tags. */
  readonly tags?: string | readonly string[]
  readonly fields?: {
    /** Whether to ask for a name, too. */
    readonly name?: boolean | 'required'
    /** Sent along unseen; they go into Metadata. */
    readonly hidden?: Readonly<Record<string, string>>
  }
  readonly texts?: Partial<Texts>
  /** BCP 47; absent: that of the page around, else the browser's. */
  readonly language?: string
  /** `light` or `dark`; anything else takes what is behind the form. */
  readonly theme?: string
  /** What visitors must agree to by a checkbox; absent: what the service says. Not for `enhance`. */
  readonly consent?: string
  /** Where to go after signing up; absent: a message in place of the form. */
  readonly redirect?: string
  /** Whether the `utm_…` parameters of the page's address go into Metadata. */
  readonly utm?: boolean
  /** Address of the service; absent: where the script came from. */
  readonly server?: string
}

/** Those with one value. */
export const simpleOptions = 'tab|source|tags|language|theme|redirect|server|name|consent|utm'
/** Those that go on with a name, as `data-text-submit`. */
export const optionGroups = 'text|field'
const known = new RegExp(`^data-(?:(${simpleOptions})|(${optionGroups})-(.+))$`)

/** Whether the attribute of a script tag is an option. */
export function isOption(attribute: string): boolean {
  return known.test(attribute)
}

/** The options in an element's attributes, with `data-` in front or without; `more` go before them. */
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

/** As HTML has it, an attribute is on by being there; but `false` is clear, too. */
function isOn(value: string | undefined): boolean {
  return value !== undefined && value !== 'false'
}
