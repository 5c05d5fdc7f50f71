import type { HttpRequest } from '../platform/http-exchange.ts'
import type { Language } from '../signup/languages.ts'
import type { ParseContext } from '../signup/parse.ts'
import type { AllowedOrigins } from '../http/origin.ts'
import { languageOf, preferredLanguage } from './language.ts'
import { type PageTexts, pageTexts } from './texts.ts'

/** What the settings say of the pages; what is undefined is as by default. */
export interface PageSettings {
  readonly title?: string | undefined
  /** A line under the title. */
  readonly text?: string | undefined
  readonly button?: string | undefined
  /** `#rrggbb` */
  readonly accent?: string | undefined
  readonly logoUrl?: string | undefined
  /** Of the texts above, and for visitors whose browser names no language of ours. */
  readonly language?: Language | undefined
  /** What visitors must agree to, in pieces; one with a URL is a link. */
  readonly consent?: readonly { readonly text: string; readonly url?: string }[] | undefined
  readonly name: NameField
}

/** What a page shows of the challenge. */
export interface PageWidget {
  /** Null: the challenge is off. */
  readonly siteKey: string | null
  /** From where its script, frames, styles and calls come; none while it is off. */
  readonly origins: readonly string[]
}

/** What pages are made with. */
export interface PageOptions {
  readonly pages: PageSettings
  readonly widget: PageWidget
  readonly allowedOrigins: AllowedOrigins
  /** Which tabs there are to name. */
  readonly tabs: Omit<ParseContext, 'source'> &
    Required<Pick<ParseContext, 'knownTabs' | 'onlyKnownTabs'>>
}

/** The hosted page, the bare form that is made for frames, or a form of the embed with a consent. */
export type OwnPage = (typeof ownPages)[number]
type NameField = (typeof nameFields)[number]

/** From the least to the most that is asked for. */
const nameFields = ['off', 'optional', 'required'] as const
const ownPages = ['hosted', 'form', 'embed'] as const
const themes = ['light', 'dark', 'auto'] as const

/** How a page is shown to one visitor: in which language, and with what of the settings. */
export interface View {
  readonly settings: PageSettings
  readonly language: Language
  readonly texts: PageTexts
  /** Which page of ours it is, or comes after; undefined: it comes after somebody else's form. */
  readonly page: OwnPage | undefined
  /** `auto` is that of the visitor's system. */
  readonly theme: (typeof themes)[number]
  readonly name: NameField
  readonly isChallenged: boolean
  /**
   * From the address of this request to the root of the service: `./`, `../` and so on. A proxy may
   * have put us behind a path that only the visitor's browser knows.
   */
  readonly root: string
  /** Appended to an address of ours it leads to the same view there; may be empty. */
  readonly query: string
}

/** @param page which of our pages it is; when absent, the request's query tells */
export function viewOf(
  { url, headers }: Pick<HttpRequest, 'url' | 'headers'>,
  { pages: settings, widget }: Pick<PageOptions, 'pages' | 'widget'>,
  page?: OwnPage,
): View {
  const { searchParams: query, pathname } = new URL(url)
  const own = page ?? oneOf(ownPages, query.get('page'))
  const asked = languageOf(query.get('language') ?? '')
  const language =
    asked ?? preferredLanguage(headers.get('accept-language')) ?? settings.language ?? 'en'
  const askedTheme = oneOf(themes, query.get('theme'))
  const askedName = nameOf(query.get('name'))
  const carried = Object.entries({
    page: own,
    language: asked,
    theme: askedTheme,
    name: askedName === 'off' ? undefined : askedName,
  }).flatMap(([name, value]) => (value === undefined ? [] : `${name}=${value}`))
  return {
    settings,
    language,
    texts: pageTexts[language],
    page: own,
    // A page that says nothing of themes is light, also on a dark system: in it a dark frame is a box.
    theme: askedTheme ?? (own === 'form' ? 'light' : 'auto'),
    // The embed has an option of its own for that.
    name: own && own !== 'embed' ? more(settings.name, askedName) : 'off',
    isChallenged: widget.siteKey !== null,
    root: '../'.repeat(pathname.split('/').length - 2) || './',
    query: carried.length === 0 ? '' : `?${carried.join('&')}`,
  }
}

function oneOf<Word extends string>(words: readonly Word[], text: string | null): Word | undefined {
  return words.find((word) => word === text)
}

/** On by being there, as the attribute of the embed; but `false` is clear, too. */
function nameOf(text: string | null): NameField {
  if (text === null || text === 'false' || text === 'off') return 'off'
  return text === 'required' ? 'required' : 'optional'
}

function more(one: NameField, other: NameField): NameField {
  return nameFields.indexOf(one) > nameFields.indexOf(other) ? one : other
}
