import { html, raw } from 'hono/html'
import type { Language } from '../signup/languages.ts'
import { languageFor, type SiteText, translationsOf } from '../signup/site-text.ts'
import type { Tree, TreeContent } from '../signup/wire.ts'
import type { Html } from './document.ts'
import type { View } from './view.ts'

/** The tree as HTML, in the visitor's language. */
export function htmlOf(view: View, [tag, attributes, ...content]: Tree): Html {
  const { form, thanks } = view.texts
  let all = attributes
  const inside = content.map((it): Html | string => {
    if (typeof it === 'string') return it
    if (isTree(it)) return htmlOf(view, it)
    if ('ours' in it) return it.ours === 'next' ? thanks.next : form[it.ours]
    const lang = languageFor(it, view.language)
    all = { ...all, lang }
    return it[lang] ?? ''
  })
  const written = Object.entries(all).map(([name, value]) => {
    const text = typeof value === 'string' ? value : value[languageFor(value, view.language)]
    return html` ${raw(name)}="${text ?? ''}"`
  })
  // prettier-ignore
  const start = html`<${raw(tag)}${written}>`
  // prettier-ignore
  return tag === 'input' ? start : html`${start}${inside}</${raw(tag)}>`
}

function isTree(it: Exclude<TreeContent, string>): it is Tree {
  return Array.isArray(it)
}

/** A text from the settings, marked with its language. */
export function ownText(view: View, text: SiteText): Html {
  return htmlOf(view, ['bdi', {}, translationsOf(text, ownLanguage(view))])
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
