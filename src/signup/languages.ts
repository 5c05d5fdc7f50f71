/** The languages in which visitors are spoken to, the same on our pages and in the embed. */
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
