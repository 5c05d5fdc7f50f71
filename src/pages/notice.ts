import { html } from 'hono/html'
import type { Openness } from '../signup/closing.ts'
import { languages } from '../signup/languages.ts'
import type { SiteText } from '../signup/site-text.ts'
import type { KnownForm } from '../signup/wire.ts'
import type { Html } from './document.ts'
import { siteText } from './form-trees.ts'
import { type PageTexts, pageTexts, problemText } from './texts.ts'
import { ownText, plainOwnText } from './tree-html.ts'
import type { PageOptions, View } from './view.ts'

/** Whether a form has a notice: it is for a waiting list, or it is closed. */
type Noticed = Exclude<Openness, 'open'>

/** The line above the form of a waiting list, or in the place of one that is closed. False while it is open. */
export function notice(view: View): Html | false {
  const { openness, settings } = view
  if (openness === 'open') return false
  const own = settings[openness]
  return html`<p class="notice">${own ? ownText(view, own) : ourNotice(view.texts, openness)}</p>`
}

/** The same as plain text, for the scripts of forms. Undefined while it is open. */
export function noticeText(view: View, openness = view.openness): string | undefined {
  if (openness === 'open') return undefined
  const own = view.settings[openness]
  return own ? plainOwnText(view, own) : ourNotice(view.texts, openness)
}

/** The words of ours for a site that has none of its own. */
function ourNotice(texts: PageTexts, openness: Noticed): string {
  return openness === 'closed' ? problemText(texts, 'closed').heading : texts.closing.overflowText
}

/** The same for the embed, in all languages. */
export function noticeTree({
  pages,
  openness,
}: Pick<PageOptions, 'pages' | 'openness'>): Pick<KnownForm, 'notice' | 'closed'> {
  const now = openness()
  if (now === 'open') return {}
  const ours = languages.map((it) => [it, ourNotice(pageTexts[it], now)] as const)
  const words: SiteText = pages[now] ?? Object.fromEntries(ours)
  const attributes = { class: 'notice', dir: 'auto' }
  const notice = siteText(words, pages.language ?? 'en', 'p', attributes)
  return { notice, ...(now === 'closed' && { closed: true }) }
}
