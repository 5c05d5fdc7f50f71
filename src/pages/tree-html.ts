import { html, raw } from 'hono/html'
import type { Language } from '../signup/languages.ts'
import { languageFor, type SiteText, translationsOf } from '../signup/site-text.ts'
import type { Tree, TreeText } from '../signup/wire.ts'
import type { Html } from './document.ts'
import { siteText } from './form-trees.ts'
import type { View } from './view.ts'

/** The tree as HTML, in the visitor's language. */
export function htmlOf(view: View, [tag, attributes, ...content]: Tree): Html {
  const { form, thanks } = view.texts
  const textOf = (it: TreeText) => {
    if (typeof it === 'string') return it
    if ('ours' in it) return it.ours === 'next' ? thanks.next : form[it.ours]
    return it[languageFor(it, view.language)] ?? ''
  }
  const written = Object.entries(attributes).map(
    ([name, value]) => html` ${raw(name)}="${textOf(value)}"`,
  )
  const inside = content.map((it) => (it instanceof Array ? htmlOf(view, it) : textOf(it)))
  // prettier-ignore
  const start = html`<${raw(tag)}${written}>`
  // prettier-ignore
  return tag === 'input' ? start : html`${start}${inside}</${raw(tag)}>`
}

/** A text from the settings, marked with its language. */
export function ownText(view: View, text: SiteText): Html {
  return htmlOf(view, siteText(text, ownLanguage(view)))
}

/** The same without a mark. */
export function plainOwnText(view: View, text: SiteText): string {
  const translations = translationsOf(text, ownLanguage(view))
  return translations[languageFor(translations, view.language)] ?? ''
}

/** The language of the texts in the settings that do not say theirs. */
export function ownLanguage({ settings }: Pick<View, 'settings'>): Language {
  return settings.language ?? 'en'
}
