import { digits } from '../platform/digits.ts'
import { languages } from '../signup/languages.ts'
import type { SiteText } from '../signup/site-text.ts'
import { hasUnprintable } from '../signup/text.ts'
import { either, type Kind, oneOf, record, text, Wrong } from './kind.ts'

export function line(maxLength: number): Kind<string> {
  const form = `a text of up to ${digits(maxLength)} characters in one line`
  return plain(form, maxLength, (it) => it)
}

/** A text in several lines. An empty line stands between paragraphs. */
export function lines(maxLength: number): Kind<string> {
  const form = `a text of up to ${digits(maxLength)} characters`
  return plain(form, maxLength, (it) => it.replaceAll('\n', ' '))
}

function plain(form: string, maxLength: number, lineOf: (text: string) => string): Kind<string> {
  const hint = 'Write plain text. Pages and mails show HTML tags as they are typed.'
  const read = (it: string) => {
    const value = it.replace(/\r\n?/g, '\n')
    if (hasUnprintable(lineOf(value))) return new Wrong('has control characters in it.')
    return value.length > maxLength ? new Wrong('is too long.') : value
  }
  return text(form, read, hint, { minLength: 1, maxLength })
}

/** A text that a site may have in several languages. A variable has it in one. */
export function siteText(kind: Kind<string>): Kind<SiteText> {
  const form = 'a text by language: { "en": …, "de": … }'
  return either(kind, record(oneOf(languages), kind, form, [1, languages.length]))
}
