import { html } from 'hono/html'
import { document } from './document.ts'
import { ownText, plainOwnText } from './tree-html.ts'
import type { View } from './view.ts'

/** The path of the thank-you page, relative to our root. */
export const thanksPath = 'api/signup/thanks'

/** The thank-you page. It contains neither the address nor anything else about the visitor. */
export async function thanksPage(view: View): Promise<string> {
  const { settings, texts } = view
  const { title, text, close, next } = texts.thanks
  const isBare = view.page === 'form'
  const mayClose = !isBare && settings.next === undefined
  const body = html`<div class="thanks" role="status">
    <div>
      ${!isBare && settings.title && html`<p class="intro">${ownText(view, settings.title)}</p>`}
      <h1>${title}</h1>
      <p>
        ${settings.thanks ? ownText(view, settings.thanks) : html`${text} ${mayClose && close}`}
      </p>
      ${settings.next && html`<a class="next" href="${settings.next}" target="_top">${next}</a>`}
    </div>
  </div>`
  return document(view, {
    title: settings.title ? `${title} – ${plainOwnText(view, settings.title)}` : title,
    body,
  })
}
