import type { Field } from '../signup/field.ts'
import type { PageTexts } from './texts.ts'

/** What is wrong with the value of a declared field, in the language of the texts. `value` is trimmed. */
export function messageOf(field: Field, value: string, texts: PageTexts['fields']): string {
  switch (field.type) {
    case 'choice':
      return texts.choiceMissing
    case 'checkbox':
      return texts.consentMissing
    default:
      return value === '' ? texts.valueMissing : wrongMessage(field, value, texts)
  }
}

function wrongMessage(
  field: Exclude<Field, { readonly type: 'choice' }>,
  value: string,
  texts: PageTexts['fields'],
): string {
  switch (field.type) {
    case 'text':
      return texts.textTooLong.replace('*', String(field.maxLength))
    case 'number': {
      const number = Number(value)
      const { min = -Infinity, max = Infinity } = field
      if (number < min) return texts.numberTooLow.replace('*', String(min))
      return number > max ? texts.numberTooHigh.replace('*', String(max)) : texts.numberWrong
    }
    case 'url':
      return texts.urlWrong
    case 'date':
      return texts.dateWrong
    case 'phone':
      return texts.phoneWrong
    case 'checkbox':
      return texts.consentMissing
  }
}
