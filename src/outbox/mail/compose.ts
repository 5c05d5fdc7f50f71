import { html } from 'hono/html'
import type { Message } from '../../journal/contracts/outbox.ts'
import { type Language, languages } from '../../signup/languages.ts'
import {
  languageFor,
  type SiteText,
  type Translations,
  translationsOf,
} from '../../signup/site-text.ts'
import type { Millis } from '../../signup/signup.ts'
import {
  aside,
  button,
  heading as title,
  type Html,
  htmlMail,
  type MailColors,
  paragraph,
  textLink,
} from './layout.ts'
import { type LinkBase, linkOf } from './links.ts'
import type { Mail } from './mail.ts'

/** Our own texts in one language: those of the pages, as far as mails have them. */
export interface MailTexts {
  readonly mail: Readonly<
    Record<
      | 'title'
      | 'purposeText'
      | 'untilText'
      | 'text'
      | 'onText'
      | 'listedText'
      | 'leaveText'
      | 'yes'
      | 'leave',
      string
    >
  >
  readonly thanks: Readonly<Record<'title', string>>
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
  /** Whether only who has confirmed is on the list, and so gets a welcome. */
  readonly confirms: boolean
  readonly texts: Readonly<Record<Language, MailTexts>>
  readonly colors: MailColors
}

/** The mail of a message of kind `confirm` or `welcome`. It has one link, and no word of a visitor. */
export function compose(message: Message, options: ComposeOptions): Mail {
  const { texts, title, own, publicUrl } = options
  const isWelcome = message.kind === 'welcome'
  const theirs = (isWelcome ? own.welcome : own) ?? {}
  const inLanguages = (text: SiteText) => translationsOf(text, options.language)
  const wanted = languages.find((it) => it === message.language) ?? options.language
  const given = [theirs.subject, theirs.text].flatMap((it) => (it ? [inLanguages(it)] : []))
  const language = languageOf(given, wanted)
  const told = (text: SiteText): Told => {
    const translations = inLanguages(text)
    const found = languageFor(translations, language)
    return { text: translations[found] ?? '', lang: found }
  }
  const ours = (text: string): Told => ({ text, lang: language })
  const { mail, thanks } = texts[language]
  const { hostname } = new URL(publicUrl)
  const site = title ? told(title) : ours(hostname)
  const heading = isWelcome ? thanks.title : mail.title
  const subject = theirs.subject ? told(theirs.subject).text : `${site.text}: ${heading}`
  const ourText = isWelcome ? mail.onText : filled(mail.purposeText, site.text)
  const text = theirs.text ? paragraphs(told(theirs.text)) : [ours(ourText)]
  const link = linkOf(options, isWelcome ? 'leave' : 'confirm', message.id, language)
  const content: Content = {
    ...{ language, subject, site, isWelcome, link },
    heading: theirs.subject ? told(theirs.subject) : ours(heading),
    paragraphs: [...text, ...(message.isListed && !isWelcome ? [ours(mail.listedText)] : [])],
    label: isWelcome ? mail.leave : mail.yes,
    ending: isWelcome ? '' : filled(mail.untilText, momentIn(language, message.linkUntil ?? 0)),
    unasked: !isWelcome ? mail.text : options.confirms ? '' : mail.leaveText,
  }
  return {
    to: message.email,
    subject,
    text: plainText(content),
    html: htmlText(content, options.colors),
    messageId: `${message.id}@${hostname}`,
    // RFC 8058. A reader of mail posts to the link without showing its page.
    headers: isWelcome
      ? { 'List-Unsubscribe': `<${link}>`, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' }
      : {},
  }
}

/**
 * A mail is in one language: that of the visitor where all texts of the site's own have it, else the first that they
 * share. Nobody should have to read two to understand one mail.
 */
function languageOf(given: readonly Translations[], wanted: Language): Language {
  const offered = [wanted, ...given.flatMap((it) => Object.keys(it) as Language[])]
  return offered.find((it) => given.every((text) => it in text)) ?? offered[1] ?? wanted
}

/** A text and the language that it is in. */
interface Told {
  readonly text: string
  readonly lang: Language
}

interface Content {
  readonly language: Language
  readonly subject: string
  /** What the site is called. */
  readonly site: Told
  readonly heading: Told
  readonly paragraphs: readonly Told[]
  /** What is written on the link. */
  readonly label: string
  readonly link: string
  /** Until when the link works; empty when it does for ever. */
  readonly ending: string
  /** What to do for who did not ask for this mail; empty for who has confirmed it. */
  readonly unasked: string
  readonly isWelcome: boolean
}

/** A text of ours with this in the place of its `*`. */
function filled(text: string, words: string): string {
  return text.replace('*', () => words)
}

/** A time to the minute, in UTC, as people write it. */
function momentIn(language: Language, at: Millis): string {
  const date = { year: 'numeric', month: 'long', day: 'numeric' } as const
  const time = {
    hour: 'numeric',
    minute: '2-digit',
    timeZone: 'UTC',
    timeZoneName: 'short',
  } as const
  return new Intl.DateTimeFormat(language, { ...date, ...time }).format(at)
}

function paragraphs({ text, lang }: Told): readonly Told[] {
  return text.split(/\n{2,}/).map((it) => ({ text: it.trim(), lang }))
}

function plainText(content: Content): string {
  const { site, heading, paragraphs, label, link, ending, unasked, isWelcome } = content
  const linked = `${label}:\n${link}`
  const end = isWelcome ? [unasked, linked] : [linked, ending, unasked]
  const texts = [...[site, heading, ...paragraphs].map((it) => it.text), ...end]
  return texts.filter((it) => it !== '').join('\n\n') + '\n'
}

/** A welcome has its link in the small print: nobody should leave by the only button that they see. */
function htmlText(content: Content, colors: MailColors): string {
  const { language, subject, site, heading, label, link, ending, unasked, isWelcome } = content
  const body = html`
    ${aside(marked(site), 'margin: 0')} ${title(marked(heading))}
    ${content.paragraphs.map((it) => paragraph(marked(it)))}
    ${!isWelcome && button(label, link, colors)}
    ${aside(
      isWelcome ? html`${unasked} ${textLink(label, link, colors)}` : `${ending} ${unasked}`,
      'margin: 24px 0 0',
    )}
  `
  return htmlMail({ language, subject, colors, body })
}

function marked({ text, lang }: Told): Html {
  const lines = text.split('\n').map((line, at) => html`${at > 0 && html`<br />`}${line}`)
  return html`<bdi lang="${lang}">${lines}</bdi>`
}
