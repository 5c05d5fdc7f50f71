import { html } from 'hono/html'
import type { HtmlEscapedString } from 'hono/utils/html'
import type { Message } from '../../journal/contracts/outbox.ts'
import { type Language, languages } from '../../signup/languages.ts'
import { languageFor, type SiteText, translationsOf } from '../../signup/site-text.ts'
import { type LinkBase, linkOf } from './links.ts'
import type { Mail } from './mail.ts'

/** Our own texts in one language: those of the pages, as far as mails have them. */
export interface MailTexts {
  readonly mail: Readonly<Record<'title' | 'text' | 'listedText' | 'yes' | 'leave', string>>
  /** What a welcome says. */
  readonly thanks: Readonly<Record<'title' | 'text', string>>
}

/** The texts of a site in the place of ours. A text may have paragraphs. */
interface OwnTexts {
  readonly subject?: SiteText | undefined
  readonly text?: SiteText | undefined
}

export interface ComposeOptions extends LinkBase {
  /** What the site is called; when undefined, the host of its public URL. */
  readonly title: SiteText | undefined
  /** Of texts that do not say theirs, and of visitors whose language is not known. */
  readonly language: Language
  readonly own: OwnTexts & { readonly welcome?: OwnTexts | undefined }
  readonly texts: Readonly<Record<Language, MailTexts>>
}

/** A text and the language that it is in. */
type Told = readonly [text: string, language: Language]

/** The mail of a message of kind `confirm` or `welcome`. It has one link, and no word of a visitor. */
export function compose(message: Message, options: ComposeOptions): Mail {
  const { texts, title, own } = options
  const language = languages.find((it) => it === message.language) ?? options.language
  const { hostname } = new URL(options.publicUrl)
  const { mail, thanks } = texts[language]
  const isWelcome = message.kind === 'welcome'
  const [ours, theirs = {}] = isWelcome ? [thanks, own.welcome] : [mail, own]
  const link = linkOf(options, isWelcome ? 'leave' : 'confirm', message.id)
  const told = (text: SiteText): Told => {
    const translations = translationsOf(text, options.language)
    const found = languageFor(translations, language)
    return [translations[found] ?? '', found]
  }
  const site = told(title ?? { [language]: hostname })
  const subject = theirs.subject ? told(theirs.subject)[0] : `${site[0]}: ${ours.title}`
  const content: Content = {
    language,
    subject,
    paragraphs: [
      site,
      ...paragraphs(theirs.text ? told(theirs.text) : [ours.text, language]),
      ...(message.isListed && !isWelcome ? ([[mail.listedText, language]] as const) : []),
    ],
    label: isWelcome ? mail.leave : mail.yes,
    link,
  }
  return {
    to: message.email,
    subject,
    text: plainText(content),
    html: htmlText(content),
    messageId: `${message.id}@${hostname}`,
    // RFC 8058. A reader of mail posts to the link without showing its page.
    headers: isWelcome
      ? { 'List-Unsubscribe': `<${link}>`, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' }
      : {},
  }
}

interface Content {
  readonly language: Language
  readonly subject: string
  readonly paragraphs: readonly Told[]
  /** What is written on the link. */
  readonly label: string
  readonly link: string
}

function paragraphs([text, language]: Told): readonly Told[] {
  return text.split(/\n{2,}/).map((it) => [it.trim(), language])
}

function plainText({ paragraphs, label, link }: Content): string {
  return [...paragraphs.map(([text]) => text), `${label}:\n${link}`].join('\n\n') + '\n'
}

function htmlText({ language, subject, paragraphs, label, link }: Content): string {
  const written = paragraphs.map(([text, lang]) => {
    const lines = text.split('\n').map((line, at) => html`${at > 0 && html`<br />`}${line}`)
    return html`<p><bdi lang="${lang}">${lines}</bdi></p>`
  })
  const text = html`<!doctype html>
    <html lang="${language}" dir="${language === 'ar' ? 'rtl' : 'ltr'}">
      <head>
        <meta charset="utf-8" />
        <title>${subject}</title>
      </head>
      <body>
        ${written}
        <p><a href="${link}">${label}</a></p>
      </body>
    </html> ` as HtmlEscapedString
  return text.toString()
}
