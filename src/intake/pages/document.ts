import { html } from 'hono/html'
import type { PageTexts } from './texts.ts'

/** Escaped; what goes in as a string comes out as text. */
export type Html = ReturnType<typeof html>

/** Path of the stylesheet that every page uses. */
export const stylesheetPath = '/assets/page.css'

/** A whole page. Works without scripts and under a CSP that allows our own stylesheet only. */
export async function document(texts: PageTexts, title: string, content: Html): Promise<string> {
  const page = await html`<!doctype html>
    <html lang="${texts.lang}" dir="${texts.dir}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="robots" content="noindex" />
        <title>${title}</title>
        <link rel="stylesheet" href="${stylesheetPath}" />
      </head>
      <body>
        <main>${content}</main>
      </body>
    </html> `
  return page.toString()
}
