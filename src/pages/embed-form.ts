import { type ChoiceField, type Field, headingOf } from '../signup/field.ts'
import {
  collectedLength,
  controlAttributes,
  controlKindOf,
  fitInRow,
} from '../signup/field-control.ts'
import type { KnownForm, Tree } from '../signup/wire.ts'
import { accentStyles } from './accent.ts'
import { fieldId } from './typed-form.ts'
import type { PageOptions } from './view.ts'

/** The parts of a tree that are in the visitor's language. */
const optional = 0
const choose = 1
const continuing = 2

/** How the embed of a site differs from a form with an email field alone: its texts, fields and colour. */
export function knownForm({
  pages: { title, text, button, name, accent, consent, thanks, next, language = 'en' },
  site,
  fields,
}: Pick<PageOptions, 'pages' | 'site' | 'fields'>): KnownForm {
  const texts = Object.fromEntries(
    Object.entries({ title, text, submit: button }).filter(([, words]) => words !== undefined),
  )
  const hasTexts = Object.keys(texts).length > 0
  const isWorded = consent !== undefined || hasTexts || fields.length > 0
  const pieces = consent?.map(({ text, url }) => (url === undefined ? text : `[${text}](${url})`))
  return {
    ...(pieces && { consent: pieces.join('') }),
    ...(isWorded && { language }),
    ...(site !== undefined && { site }),
    ...(hasTexts && { texts }),
    ...(name !== 'off' && { name }),
    ...(accent !== undefined && { styles: accentStyles(accent) }),
    ...(fields.length > 0 && { fields: fields.map((field) => drawn(field, language)) }),
    ...((thanks ?? next) !== undefined && {
      thanks: [...textBelow(thanks, language), ...linkTo(next)],
    }),
  }
}

function textBelow(thanks: string | undefined, language: string): Tree[] {
  return thanks === undefined ? [] : [['p', { lang: language, dir: 'auto' }, thanks]]
}

function linkTo(next: string | undefined): Tree[] {
  return next === undefined ? [] : [['a', { href: next, class: 'next' }, continuing]]
}

/**
 * Puts what the embed shows in front of its script, so that the form has it at once. A separate request
 * would make the page jump. See browser/known.ts.
 */
export function withForm(embed: string, form: KnownForm): string {
  if (Object.keys(form).length === 0) return embed
  // The block hides all names from the page.
  return `"use strict";{const rollcallForm=${JSON.stringify(form)};${embed}}`
}

function drawn(field: Field, language: string): Tree {
  const { name, required } = field
  const id = fieldId(name)
  const collected = collectedLength(field)
  if (collected !== undefined) {
    return ['input', { type: 'hidden', name, 'data-collect': String(collected) }]
  }
  const words = (text: string): Tree => ['bdi', { lang: language }, text]
  const heading = headingOf(field)
  const own = words(heading)
  const label = required ? [own] : [own, ' ', ['small', {}, optional] as const]
  const input = { id, name, ...controlAttributes(field) }
  switch (controlKindOf(field)) {
    case 'checkbox':
      return box('div', ['label', { class: 'choice' }, ['input', input], ['div', {}, own]])
    case 'input':
      return box('div', ['label', { for: id }, ...label], ['input', input])
    case 'select': {
      const options = optionsOf(field).map((value): Tree => ['option', { value }, value])
      const list: Tree = ['select', input, ['option', { value: '' }, choose], ...options]
      return box('div', ['label', { for: id }, ...label], list)
    }
    case 'radios': {
      const isRequired = required ? { required: '' } : {}
      const radios = optionsOf(field).map((value, index): Tree => {
        const attributes = { id: `${id}.${index}`, name, type: 'radio', value, ...isRequired }
        return ['label', { class: 'choice' }, ['input', attributes], ['div', {}, words(value)]]
      })
      const group = { class: 'field', id, role: 'radiogroup' }
      const told = required ? { ...group, 'aria-required': 'true' } : group
      const choices = { class: fitInRow(field as ChoiceField) ? 'choices row' : 'choices' }
      return ['fieldset', told, ['legend', {}, ...label], ['div', choices, ...radios]]
    }
  }
}

function optionsOf(field: Field): readonly string[] {
  return field.type === 'choice' ? field.options : []
}

function box(tag: string, ...content: Tree[]): Tree {
  return [tag, { class: 'field' }, ...content]
}
