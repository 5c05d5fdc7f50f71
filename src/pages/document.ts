import { html } from 'hono/html'
import type { View } from './view.ts'

/** Escaped HTML. A string inside it is shown as text. */
export type Html = ReturnType<typeof html>

/** The path of the stylesheet of all pages, relative to our root. */
export const stylesheetPath = 'assets/page.css'

/** The path of the script. Pages work without it unless the challenge is on. */
const scriptPath = 'assets/page.js'

export interface Content {
  readonly title: string
  readonly body: Html
  readonly description?: string | undefined
  readonly isListed?: boolean
  readonly hasForm?: boolean
}

/** A complete page. It loads only our own files, the logo and the challenge. */
export async function document(view: View, content: Content): Promise<string> {
  const { language, theme, page, settings, root, siteQuery } = view
  const { title, body, description, isListed = false, hasForm = false } = content
  const isBare = page === 'form'
  const { logoUrl } = settings
  const dir = language === 'ar' ? 'rtl' : 'ltr'
  const text = await html`<!doctype html>
    <html lang="${language}" dir="${dir}" data-theme="${theme}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="${theme === 'auto' ? 'light dark' : theme}" />
        ${!isListed && html`<meta name="robots" content="noindex" />`}
        ${description && html`<meta name="description" content="${description}" />`}
        <title>${title}</title>
        <link rel="stylesheet" href="${root}${stylesheetPath}${siteQuery}" />
        <link rel="icon" href="${logoUrl ?? 'data:,'}" />
        ${(hasForm || isBare) && html`<script src="${root}${scriptPath}" defer></script>`}
      </head>
      <body class="${isBare ? 'bare' : 'whole'}">
        <main>
          ${logoUrl && !isBare && html`<img class="logo" src="${logoUrl}" alt="" />`} ${body}
        </main>
      </body>
    </html> `
  return text.toString()
}
