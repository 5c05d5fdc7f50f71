import { translationsOf } from '../signup/site-text.ts'
import type { KnownForm, Tree } from '../signup/wire.ts'
import { accentStyles } from './accent.ts'
import { fieldTree } from './field-tree.ts'
import { siteText } from './form-trees.ts'
import { noticeTree } from './notice.ts'
import type { PageOptions } from './view.ts'

/** As page.css has it for the pages. */
const noticeStyles =
  '.notice{color:inherit;font-weight:600}*+.notice{margin-block-start:.75em}' +
  '.notice:has(~.rollcall-done:not(:empty)){display:none}'

/**
 * How the embed of a site differs from a form with an email field alone: its texts, fields and colour, and whether it is closed now.
 *
 * @param fieldStyles the rules that declared fields need
 */
export function knownForm(
  options: Pick<PageOptions, 'pages' | 'site' | 'fields' | 'openness'>,
  fieldStyles: string,
): KnownForm {
  const { pages, site, fields } = options
  const { notice, closed } = noticeTree(options)
  const { title, text, button, name, accent, consent, thanks, next, language = 'en' } = pages
  const styles =
    (fields.length > 0 ? fieldStyles : '') +
    (notice ? noticeStyles : '') +
    (accent === undefined ? '' : accentStyles(accent))
  const texts = {
    ...(title !== undefined && { title: siteText(title, language) }),
    ...(text !== undefined && { text: siteText(text, language) }),
    ...(button !== undefined && { submit: siteText(button, language) }),
  }
  const ending: Tree[] = [
    ...(thanks === undefined ? [] : [siteText(thanks, language, 'p', { dir: 'auto' })]),
    ...(next === undefined
      ? []
      : [['a', { href: next, class: 'next' }, { ours: 'next' }] as const]),
  ]
  return {
    ...(consent !== undefined && { consent: translationsOf(consent, language) }),
    ...(site !== undefined && { site }),
    ...(Object.keys(texts).length > 0 && { texts }),
    ...(name !== 'off' && { name }),
    ...(styles && { styles }),
    ...(fields.length > 0 && { fields: fields.map((field) => fieldTree(field, language)) }),
    ...(ending.length > 0 && { thanks: ending }),
    ...(notice && { notice }),
    ...(closed && { closed }),
  }
}

/**
 * Puts what the embed shows in front of its script, so that the form has it at once. A separate request
 * would make the page jump. See browser/element.ts.
 */
export function withForm(embed: string, form: KnownForm): string {
  if (Object.keys(form).length === 0) return embed
  // The block hides all names from the page.
  return `"use strict";{const rollcallForm=${JSON.stringify(form)};${embed}}`
}
