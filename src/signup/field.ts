import { firstOf, type SiteText } from './site-text.ts'

/** What all fields have: a field is a column of a site's own, which stands after the seven columns. */
interface FieldOfAnyType {
  /** A letter, then letters, digits, `_` and `-`: at most 40 characters. Signups carry the value under it. */
  readonly name: string
  /** At most 100 characters. What visitors read beside the field. */
  readonly label?: SiteText | undefined
  readonly required: boolean
  /** At most 300 characters. A line below the control. */
  readonly help?: SiteText | undefined
  /** At most 100 characters. Stands in an empty control; only types whose values are typed have it. */
  readonly placeholder?: SiteText | undefined
}

export interface TextField extends FieldOfAnyType {
  /** Of these two, only a `textarea` keeps line breaks. */
  readonly type: 'text' | 'textarea'
  /** In UTF-16 units, 1 to 2,000. */
  readonly maxLength: number
}

export interface ChoiceField extends FieldOfAnyType {
  readonly type: 'choice' | 'choices'
  /** The values that a visitor chooses one of, each stored as it is given first; of `choices` any number, and none has a comma. */
  readonly options: readonly SiteText[]
}

export interface NumberField extends FieldOfAnyType {
  readonly type: 'number'
  /** Undefined allows any finite number. */
  readonly min?: number | undefined
  readonly max?: number | undefined
}

/** A field whose type says everything about its values. */
export interface PlainField extends FieldOfAnyType {
  readonly type: 'checkbox' | 'url' | 'date' | 'phone'
}

/** A declared field of a site. */
export type Field = TextField | ChoiceField | NumberField | PlainField

/** The values of a signup's fields by the names of the fields. A field without a value is left out. */
export type FieldValues = Readonly<Record<string, string | number | boolean | readonly string[]>>

/** The heading of a field's column. */
export function headingOf({ name, label = name }: Field): string {
  return firstOf(label)
}

/** The values of a field's options as they are sent and stored. */
export function optionsOf({ options }: ChoiceField): readonly string[] {
  return options.map(firstOf)
}

/** What a signup has whose site declares no fields. */
export const noFields: FieldValues = {}

/** The values as they are stored: compact JSON; empty when there are none. */
export function fieldsText(values: FieldValues): string {
  return values === noFields || Object.keys(values).length === 0 ? '' : JSON.stringify(values)
}

/** The values of a stored text. */
export function fieldsOf(text: string): FieldValues {
  return text === '' ? noFields : (JSON.parse(text) as FieldValues)
}
