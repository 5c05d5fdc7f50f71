import type { Field } from '../signup/field.ts'
import { environmentNames, type SettingNames } from '../signup/setting-names.ts'
import type { Files } from './read-file.ts'
import { type ChallengeConfig, readChallenge, readChallengeTerms } from './challenge.ts'
import { type GoogleConfig, readGoogle } from './google.ts'
import { tabList } from './lists.ts'
import { originList } from './origins.ts'
import { type PagesConfig, readPages } from './pages.ts'
import type { SettingsReader } from './reader.ts'
import type { SiteSecrets } from './secrets.ts'
import { settings } from './settings.ts'
import { duplicates, tabName, wholeNumber } from './values.ts'

/** What belongs to one stream of signups. Holds no secret, so it can be printed. */
export interface SiteConfig {
  readonly name: string
  readonly spreadsheet: GoogleConfig | { readonly kind: 'workbook' }
  /** Undefined when the challenge is off. */
  readonly challenge: ChallengeConfig | undefined
  readonly pages: PagesConfig
  readonly defaultSheetTab: string
  /** Set when `DEFAULT_SHEET_TAB` is not: if this spreadsheet has only one tab and it is empty, that is the default. */
  readonly defaultTabOf: string | undefined
  /** The only tabs that signups may name besides the default tab; undefined allows any. */
  readonly sheetTabs: readonly string[] | undefined
  /** How many new tabs signups may create. */
  readonly newTabsMax: number
  readonly duplicates: 'append' | 'ignore'
  /** Origins as browsers write them; `*` allows all. */
  readonly allowedOrigins: '*' | readonly string[]
  /** The limit for each client address; 0 means no limit. */
  readonly signupsPerMinute: number
  /** The columns after the seven, in their order. */
  readonly fields: readonly Field[]
  readonly settingNames: SettingNames
}

/** A site and what must not be printed of it. */
export interface ReadSite {
  readonly site: SiteConfig
  readonly secrets: SiteSecrets
}

/** The only site when no file names others. */
export const defaultSite = 'default'

/** What the environment says for every site. */
export interface SiteDefaults
  extends
    Pick<SiteConfig, 'pages' | 'defaultSheetTab' | 'sheetTabs' | 'newTabsMax' | 'duplicates'>,
    Pick<SiteConfig, 'allowedOrigins' | 'signupsPerMinute'> {
  readonly isDefaultTabSet: boolean
}

export function readSiteDefaults(reader: SettingsReader): SiteDefaults {
  return {
    pages: readPages(reader),
    defaultSheetTab: reader.withDefault('DEFAULT_SHEET_TAB', tabName),
    isDefaultTabSet: reader.text('DEFAULT_SHEET_TAB') !== undefined,
    sheetTabs: reader.optional('SHEET_TABS', tabList),
    newTabsMax: reader.withDefault('MAX_SHEET_TABS', wholeNumber(0, 10_000)),
    duplicates: reader.withDefault('DUPLICATES', duplicates),
    allowedOrigins: reader.withDefault('ALLOWED_ORIGINS', originList),
    signupsPerMinute: reader.withDefault('RATE_LIMIT_PER_MINUTE', wholeNumber(0, 1_000_000)),
  }
}

/** Reads the site that the environment alone describes. */
export function readDefaultSite(reader: SettingsReader, files: Files): ReadSite {
  const google = wantsGoogle(reader) ? readGoogle(reader, files) : undefined
  const challenged = readChallenge(reader, readChallengeTerms(reader))
  const { isDefaultTabSet, ...defaults } = readSiteDefaults(reader)
  const site: SiteConfig = {
    ...defaults,
    name: defaultSite,
    spreadsheet: google?.spreadsheet ?? { kind: 'workbook' },
    challenge: challenged?.challenge,
    defaultTabOf: isDefaultTabSet ? undefined : google?.spreadsheet.spreadsheetId,
    fields: [],
    settingNames: environmentNames,
  }
  const secrets = {
    ...(google && { privateKey: google.privateKey }),
    ...(challenged && { challengeSecret: challenged.secret }),
  }
  return { site, secrets }
}

/**
 * Whether the operator wants Google Sheets, as any `SHEETS_` setting shows. The variable
 * `GOOGLE_APPLICATION_CREDENTIALS` alone does not show it.
 */
export function wantsGoogle(reader: SettingsReader): boolean {
  return settings.some(({ name }) => name.startsWith('SHEETS_') && reader.text(name) !== undefined)
}
