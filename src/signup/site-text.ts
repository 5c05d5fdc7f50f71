import type { Language } from './languages.ts'

/** A text in one or more languages. Visitors of all other languages get the first. */
export type Translations = Readonly<Partial<Record<Language, string>>>

/** A text that the owner of a site wrote: in the language of the site's pages, or in several. */
export type SiteText = string | Translations

/** The text that was given first. Headings and stored options are so, whatever a visitor reads. */
export function firstOf(text: SiteText): string {
  return typeof text === 'string' ? text : (Object.values(text)[0] ?? '')
}

/** The text by language, that in the language of the site's pages first. */
export function translationsOf(text: SiteText, language: Language): Translations {
  if (typeof text === 'string') return { [language]: text }
  const own = text[language]
  return own === undefined ? text : { [language]: own, ...text }
}

/** The language of the text that a visitor of this language gets. */
export function languageFor(translations: Translations, language: string): Language {
  return (language in translations ? language : Object.keys(translations)[0]) as Language
}
