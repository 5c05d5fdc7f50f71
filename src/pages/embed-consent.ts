import type { PageSettings } from './view.ts'

/**
 * The embed with what visitors must agree to by the settings in front of it. The form shows it at
 * once: asked for by a request of its own, it would make the page jump. See browser/consent.ts.
 */
export function withConsent(
  embed: string,
  { consent, language = 'en' }: Pick<PageSettings, 'consent' | 'language'>,
): string {
  if (!consent) return embed
  const pieces = consent.map(({ text, url }) => (url === undefined ? text : `[${text}](${url})`))
  const known = JSON.stringify({ text: pieces.join(''), language })
  // In a block of its own nothing of it is seen by the page.
  return `"use strict";{const rollcallConsent=${known};${embed}}`
}
