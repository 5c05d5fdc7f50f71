import type { Language } from './languages.ts'

/** A text in one or more languages. Visitors of all other languages get the first. */
export type Translations = Readonly<Partial<Record<Language, string>>>

/** The language of the text that a visitor of this language gets. */
export function languageFor(translations: Translations, language: string): Language {
  return (language in translations ? language : Object.keys(translations)[0]) as Language
}
