/** The languages of our pages and of the embed. */
export const languages = [
  'en',
  'de',
  'fr',
  'es',
  'pt',
  'it',
  'nl',
  'pl',
  'tr',
  'ar',
  'hi',
  'ja',
  'ko',
  'zh',
] as const

export type Language = (typeof languages)[number]
