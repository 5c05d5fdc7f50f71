import type { PageConfig } from '../config/sites/site.ts'
import type { PageSources } from '../http/headers.ts'
import { requestLanguage } from '../http/negotiate.ts'
import type { AllowedOrigins } from '../http/origin.ts'
import type { HttpRequest } from '../platform/http-exchange.ts'
import type { Openness } from '../signup/closing.ts'
import type { Field } from '../signup/field.ts'
import type { Language } from '../signup/languages.ts'
import { allowedTabs, type ParseContext } from '../signup/parse.ts'
import { type PageTexts, pageTexts } from './texts.ts'

/** An undefined member, or one that is left out, means the default. */
export type PageSettings = Partial<PageConfig> & Pick<PageConfig, 'name'>

export interface PageOptions {
  readonly pages: PageSettings
  /** The name that addresses carry to the same site; undefined when there is only one site for all. */
  readonly site: string | undefined
  readonly widget: PageSources['widget'] & {
    /** Null when the challenge is off. */
    readonly siteKey: string | null
  }
  readonly fields: readonly Field[]
  /** What becomes of a new signup now. */
  readonly openness: () => Openness
  /** Whether that changes some day. */
  readonly closes: boolean
  /** Makes the stamp of a form that is shown now. When undefined, a form has no stamp until its script asks for one. */
  readonly stamp?: () => string
  readonly allowedOrigins: AllowedOrigins
  /** The default tab and the allowed tabs. */
  readonly tabs: Omit<ParseContext, 'source'> &
    Required<Pick<ParseContext, 'knownTabs' | 'onlyKnownTabs'>>
}

/** The options of a page that belongs to no site, such as the refusal of an unknown one. */
export const neutralOptions: PageOptions = {
  pages: { name: 'off' },
  site: undefined,
  widget: { siteKey: null, origins: [] },
  fields: [],
  openness: () => 'open',
  closes: false,
  allowedOrigins: [],
  tabs: { defaultTab: '', knownTabs: new Map(), onlyKnownTabs: false },
}

/** Our own forms: the hosted page, the bare form for frames, and the embed with a consent. */
export type OwnPage = (typeof ownPages)[number]
type NameField = PageConfig['name']

/** Ordered from the least to the most demanding. */
const nameFields: readonly NameField[] = ['off', 'optional', 'required']
const ownPages = ['hosted', 'form', 'embed'] as const
const themes = ['light', 'dark', 'auto'] as const

/** How a page is shown to one visitor: its language, theme, fields and settings. */
export interface View {
  readonly settings: PageSettings
  readonly language: Language
  readonly texts: PageTexts
  /** Which of our pages this is or follows; undefined when it follows somebody else's form. */
  readonly page: OwnPage | undefined
  /** `auto` follows the visitor's system. */
  readonly theme: (typeof themes)[number]
  readonly name: NameField
  readonly fields: readonly Field[]
  /** The only tabs that take signups; undefined when any does. */
  readonly allowedTabs: readonly string[] | undefined
  readonly openness: Openness
  readonly stamp: PageOptions['stamp']
  readonly isChallenged: boolean
  /** As `rootOf` of this request. */
  readonly root: string
  /** The query that gives another of our pages the same view; may be empty. */
  readonly query: string
  /** The query that leads to the files of the same site; may be empty. */
  readonly siteQuery: string
}

/** @param page which of our pages it is; when absent, the request's query tells */
export function viewOf(
  { url, headers }: Pick<HttpRequest, 'url' | 'headers'>,
  { pages: settings, site, widget, fields, tabs, openness, stamp }: PageOptions,
  page?: OwnPage,
): View {
  const { searchParams: query } = new URL(url)
  const own = page ?? oneOf(ownPages, query.get('page'))
  const { asked, language } = requestLanguage({ url, headers }, settings.language)
  const askedTheme = oneOf(themes, query.get('theme'))
  const askedName = nameOf(query.get('name'))
  const carried = Object.entries({
    site,
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
    // Pages without themes are light even on a dark system, and a dark frame in them would look wrong.
    theme: askedTheme ?? (own === 'form' ? 'light' : 'auto'),
    // The embed has its own option for the name.
    name: own && own !== 'embed' ? more(settings.name, askedName) : 'off',
    fields,
    allowedTabs: allowedTabs(tabs)?.values().toArray(),
    openness: openness(),
    stamp,
    isChallenged: widget.siteKey !== null,
    root: rootOf(url),
    query: carried.length === 0 ? '' : `?${carried.join('&')}`,
    siteQuery: site === undefined ? '' : `?site=${site}`,
  }
}

/**
 * The relative path from this address to the root of the service: `./`, `../` and so on. Relative, because a
 * proxy may have put us behind a path that only the browser knows.
 */
export function rootOf(url: string): string {
  return '../'.repeat(new URL(url).pathname.split('/').length - 2) || './'
}

function oneOf<Word extends string>(words: readonly Word[], text: string | null): Word | undefined {
  return words.find((word) => word === text)
}

/** The presence of the parameter turns the name on, like the embed's attribute. `false` turns it off. */
function nameOf(text: string | null): NameField {
  if (text === null || text === 'false' || text === 'off') return 'off'
  return text === 'required' ? 'required' : 'optional'
}

function more(one: NameField, other: NameField): NameField {
  return nameFields.indexOf(one) > nameFields.indexOf(other) ? one : other
}
