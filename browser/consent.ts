import { create } from './dom.ts'

/** A service with `PAGE_CONSENT` puts this constant in front of the script, so that the form has it at once. */
declare const rollcallConsent: { readonly text: string; readonly language: string } | undefined

/** The field with the consent. It goes into Metadata. */
export const consentField = 'metadata[consent]'

/** Matches a link: `[words](https://…)`. There is no other markup. */
const link = /\[([^[\]]+)\]\((https?:[^()\s]+)\)/i

/**
 * Makes a checkbox that must be ticked; undefined when there is nothing to agree to.
 *
 * @param own the form's own consent text; when absent, the service's text is used
 */
export function consentBox(own: string | undefined): HTMLElement | undefined {
  const general = typeof rollcallConsent === 'undefined' ? undefined : rollcallConsent
  const { text, language } = own ? { text: own } : (general ?? {})
  if (!text) return undefined
  // The pieces are: text, words of a link, address of a link, text, and so on.
  const pieces = text.split(link)
  const nodes = pieces.flatMap((piece, index) => {
    if (index % 3 === 2) return []
    const href = index % 3 === 1 && pieces[index + 1]
    return href ? create('a', { href, target: '_blank', rel: 'noopener' }, piece) : piece
  })
  const words = create('span', { dir: 'auto', ...(language && { lang: language }) }, ...nodes)
  const box = create('input', {
    id: 'consent',
    type: 'checkbox',
    name: consentField,
    value: words.textContent,
    required: '',
  })
  return create('div', { class: 'field' }, create('label', { class: 'consent' }, box, words))
}
