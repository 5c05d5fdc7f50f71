import { create } from './dom.ts'

/** A service with `PAGE_CONSENT` puts it in front of this script: the form has it from the start. */
declare const rollcallConsent: { readonly text: string; readonly language: string } | undefined

/** What was agreed to goes into Metadata. */
export const consentField = 'metadata[consent]'

/** `[words](https://…)`, and nothing else is markup. */
const link = /\[([^[\]]+)\]\((https?:[^()\s]+)\)/i

/**
 * A checkbox that must be ticked; undefined when there is nothing to agree to.
 * @param own of the form itself; absent: that of the service
 */
export function consentBox(own: string | undefined): HTMLElement | undefined {
  const general = typeof rollcallConsent === 'undefined' ? undefined : rollcallConsent
  const { text, language } = own ? { text: own } : (general ?? {})
  if (!text) return undefined
  // Text, words and address of a link, text, and so on.
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
