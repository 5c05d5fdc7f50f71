import type { KnownForm } from '../src/signup/wire.ts'
import { create } from './dom.ts'

/** The field with the consent. It goes into Metadata. */
export const consentField = 'metadata[consent]'

/** Matches a link: `[words](https://…)`. There is no other markup. */
const link = /\[([^[\]]+)\]\((https?:[^()\s]+)\)/i

/**
 * Makes a checkbox that must be ticked; undefined when there is nothing to agree to.
 *
 * @param own the form's own consent text; when empty, the site's text is used
 */
export function consentBox(own: string, known: KnownForm): HTMLElement | undefined {
  const text = own || known.consent
  if (!text) return undefined
  // The pieces are: text, words of a link, address of a link, text, and so on.
  const nodes = text.split(link).map((piece, index, { [index + 1]: href = '' }) => {
    if (index % 3 === 1) return create('a', { href, target: '_blank', rel: 'noopener' }, piece)
    return index % 3 ? '' : piece
  })
  const words = create('bdi', own ? {} : { lang: known.language ?? '' }, ...nodes)
  const box = create('input', {
    id: 'consent',
    type: 'checkbox',
    name: consentField,
    value: words.textContent,
    required: '',
  })
  return create('div', { class: 'field' }, create('label', { class: 'choice' }, box, words))
}
