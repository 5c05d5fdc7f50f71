import type { Field } from '../signup/field.ts'
import type { PageTexts } from './texts.ts'

/** The messages about declared fields. `*` is replaced by a number. */
export type FieldTexts = Omit<
  PageTexts['fields'],
  'emailMissing' | 'emailWrong' | 'nameMissing' | 'nameTooLong'
>

/** What a message depends on besides the value. */
interface Asked {
  readonly type: Field['type']
  readonly min?: number | undefined
  readonly max?: number | undefined
  readonly maxLength?: number
}

/**
 * What is wrong with the value of a field, in the language of the texts. Our pages and scripts use it.
 *
 * @param value trimmed
 */
export function messageOf(field: Asked, value: string, texts: FieldTexts): string {
  const { type, min = -Infinity, max = Infinity, maxLength } = field
  if (type === 'choice' || type === 'choices') return texts.choiceMissing
  if (type === 'checkbox') return texts.consentMissing
  if (value === '') return texts.valueMissing
  if (type === 'text' || type === 'textarea')
    return texts.textTooLong.replace('*', String(maxLength))
  if (type !== 'number') return texts[`${type}Wrong`]
  const number = Number(value)
  if (number < min) return texts.numberTooLow.replace('*', String(min))
  return number > max ? texts.numberTooHigh.replace('*', String(max)) : texts.numberWrong
}
