import { html, raw } from 'hono/html'
import type { HtmlEscapedString } from 'hono/utils/html'
import type { Language } from '../../signup/languages.ts'

/** Escaped HTML. A string inside it is shown as text. */
export type Html = ReturnType<typeof html>

/** Of the button, in each theme, as `#rrggbb`: its background, its text, and its edge and links. */
export type MailColors = Readonly<
  Record<'light' | 'dark', Readonly<Record<'accent' | 'onAccent' | 'line', string>>>
>

/** The colours of the pages. Mail programs cannot mix them. */
const light = {
  backdrop: '#f4f6f8',
  surface: '#ffffff',
  edge: '#dbdce0',
  text: '#1b2430',
  muted: '#5b616a',
}
const dark = {
  backdrop: '#12161c',
  surface: '#1b2129',
  edge: '#3c4249',
  text: '#e9edf2',
  muted: '#afb4ba',
}

const font = '-apple-system, system-ui, Segoe UI, Roboto, Helvetica, Arial, sans-serif'

export interface Letter {
  readonly language: Language
  readonly subject: string
  readonly colors: MailColors
  readonly body: Html
}

/**
 * The HTML of a mail: a card as on the pages. Mail programs want tables, and styles at the elements: those are of
 * the light theme. Programs with a dark one take it from the stylesheet.
 */
export function htmlMail({ language, subject, colors, body }: Letter): string {
  const { accent, onAccent, line } = colors.dark
  const styles = `@media (prefers-color-scheme: dark) {
.backdrop { background: ${dark.backdrop} !important }
.card { background: ${dark.surface} !important; border-color: ${dark.edge} !important; color: ${dark.text} !important }
.muted { color: ${dark.muted} !important }
.link { color: ${line} !important }
.button { background: ${accent} !important; border-color: ${line} !important; color: ${onAccent} !important }
}`
  const text = html`<!doctype html>
    <html lang="${language}" dir="${directionOf(language)}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${subject}</title>
        <style>
          ${raw(styles)}
        </style>
      </head>
      <body class="backdrop" style="margin: 0; padding: 0; background: ${light.backdrop}">
        <table ${layout} width="100%" class="backdrop" style="background: ${light.backdrop}">
          <tr>
            <td align="center" style="padding: 24px 16px">
              <table ${layout} width="100%" style="max-width: 480px">
                <tr>
                  <td
                    class="card"
                    dir="${directionOf(language)}"
                    style="padding: 32px; border: 1px solid ${light.edge}; border-radius: 16px; background: ${light.surface}; color: ${light.text}; font: 16px/1.5 ${font}; text-align: start; overflow-wrap: anywhere"
                  >
                    ${body}
                  </td>
                </tr>
              </table>
            </td>
          </tr>
        </table>
      </body>
    </html> ` as HtmlEscapedString
  return text.toString()
}

/** Of a table that is there for the looks only. */
const layout = raw('role="presentation" cellpadding="0" cellspacing="0" border="0"')

export function heading(content: Html | string): Html {
  return html`<h1 style="margin: 0; font-size: 24px; line-height: 1.25">${content}</h1>`
}

export function paragraph(content: Html | string): Html {
  return html`<p style="margin: 16px 0 0">${content}</p>`
}

/** What is of less weight: the name of the site, and the small print. */
export function aside(content: Html | string, style: 'margin: 0' | 'margin: 24px 0 0'): Html {
  return html`<p class="muted" style="${style}; color: ${light.muted}; font-size: 14px">
    ${content}
  </p>`
}

export function button(
  text: string,
  link: string,
  { light: { accent, onAccent, line } }: MailColors,
) {
  return html`<table ${layout} style="margin: 24px 0 0">
    <tr>
      <td class="button" style="border-radius: 10px; background: ${accent}">
        <a
          class="button"
          href="${link}"
          style="display: inline-block; padding: 10px 20px; border: 1px solid ${line}; border-radius: 10px; background: ${accent}; color: ${onAccent}; font-weight: 600; text-decoration: none"
          >${text}</a
        >
      </td>
    </tr>
  </table>`
}

export function textLink(text: string, link: string, { light: { line } }: MailColors): Html {
  return html`<a class="link" href="${link}" style="color: ${line}">${text}</a>`
}

function directionOf(language: Language): 'ltr' | 'rtl' {
  return language === 'ar' ? 'rtl' : 'ltr'
}
