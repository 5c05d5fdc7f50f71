import { consentPieces, plainConsent } from '../signup/consent.ts'
import { unseenField } from '../signup/filter-fields.ts'
import type { Language } from '../signup/languages.ts'
import type { SiteText, Translations } from '../signup/site-text.ts'
import { languageFor, translationsOf } from '../signup/site-text.ts'
import type { Tree, TreeContent } from '../signup/wire.ts'

/** The parts of a form. Our pages write them as HTML, and the embed makes elements of them. */

type Content = readonly TreeContent[]
export type Attributes = Tree[1]

/** The field with the consent. It goes into Metadata. */
export const consentField = 'metadata[consent]'

/** Stands beside the label of what may stay empty. */
export const optional: Content = [' ', ['small', {}, '(', { ours: 'optional' }, ')']]

/**
 * An element with a text of the site, marked with the language in which the visitor gets it.
 *
 * @param language that of a text that does not say its own
 */
export function siteText(
  text: SiteText,
  language: Language,
  tag = 'bdi',
  attributes: Attributes = {},
): Tree {
  const translations = translationsOf(text, language)
  const lang = Object.fromEntries(Object.keys(translations).map((it) => [it, it]))
  return [tag, { ...attributes, lang }, translations]
}

export function labelled(id: string, label: Content, control: Tree, ...below: Content): Tree {
  return ['div', { class: 'field' }, ['label', { for: id }, ...label], control, ...below]
}

export function choice(input: Attributes, text: Tree): Tree {
  return ['label', { class: 'choice' }, ['input', input], text]
}

/** The field for the email address or for the name. The lengths are those of `limits`, which is too large for the embed. */
export function commonField(
  name: 'email' | 'name',
  isRequired: boolean,
  more?: Attributes,
  ...below: Content
): Tree {
  const ofType =
    name === 'email' ? { type: name, dir: 'ltr', maxlength: '254' } : { maxlength: '200' }
  const attributes = {
    id: name,
    name,
    autocomplete: name,
    ...ofType,
    ...(isRequired && { required: '' }),
    ...more,
  }
  const label = [{ ours: name }, ...(isRequired ? [] : optional)]
  return labelled(name, label, ['input', attributes], ...below)
}

/**
 * A field that people neither see nor reach: form.css hides it, and no keyboard, screen reader, browser or
 * password manager fills it in. A program that fills in every field does.
 */
export const unseen: Tree = [
  'label',
  { 'aria-hidden': 'true' },
  { ours: 'leaveEmpty' },
  [
    'textarea',
    {
      name: unseenField,
      tabindex: '-1',
      autocomplete: 'off',
      'data-1p-ignore': '',
      'data-bwignore': '',
      'data-lpignore': 'true',
      'data-form-type': 'other',
    },
  ],
]

export function consentWords(text: string): readonly TreeContent[] {
  return consentPieces(text).map((piece, at, { [at + 1]: href = '' }): TreeContent => {
    if (at % 3 === 1) return ['a', { href, target: '_blank', rel: 'noopener' }, piece]
    return at % 3 ? '' : piece
  })
}

/**
 * The box that visitors have to tick.
 *
 * @param consent links in it are `[words](https://…)`
 */
export function consentBox(
  consent: Translations,
  language: string,
  more?: Attributes,
  ...below: Content
): Tree {
  const lang = languageFor(consent, language)
  const text = consent[lang] ?? ''
  const box = {
    id: 'consent',
    name: consentField,
    type: 'checkbox',
    value: plainConsent(text),
    required: '',
    ...more,
  }
  return [
    'div',
    { class: 'field' },
    choice(box, ['bdi', { lang }, ...consentWords(text)]),
    ...below,
  ]
}
