import type { PageSettings } from './view.ts'

/**
 * Puts the consent text of the settings in front of the embed script, so that the form shows it at
 * once. A separate request would make the page jump. See browser/consent.ts.
 */
export function withConsent(
  embed: string,
  { consent, language = 'en' }: Pick<PageSettings, 'consent' | 'language'>,
): string {
  if (!consent) return embed
  const pieces = consent.map(({ text, url }) => (url === undefined ? text : `[${text}](${url})`))
  const known = JSON.stringify({ text: pieces.join(''), language })
  // The block hides all names from the page.
  return `"use strict";{const rollcallConsent=${known};${embed}}`
}
