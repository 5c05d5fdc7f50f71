import type { Field } from '../../signup/field.ts'
import { environmentNames, type SettingNames } from '../../signup/setting-names.ts'
import type { ChallengeConfig } from '../challenge.ts'
import { pathText } from './schema-problems.ts'
import type { SettingsReader } from '../reader.ts'
import { siteSettings, type SiteSettings } from '../settings.ts'
import type { DeclaredSite } from './site-schema.ts'

/** How the pages for visitors look and what they ask for. An undefined member means the default. */
export type PageConfig = SiteSettings['page.']

export interface GoogleConfig {
  readonly kind: 'google'
  readonly spreadsheetId: string
  /** The service account; its key is in `Secrets`. */
  readonly credentials: { readonly email: string }
  /** Has no slash at the end. */
  readonly apiUrl: string
  readonly tokenUrl: string
  /** The most calls to the Sheets API in any 60 seconds and in any 24 hours. */
  readonly quota: { readonly perMinute: number; readonly perDay: number }
}

type ValuesOfSite = SiteSettings['']

/** What belongs to one stream of signups. Holds no secret, so it can be printed. */
export interface SiteConfig extends ValuesOfSite {
  readonly name: string
  readonly spreadsheet: GoogleConfig | { readonly kind: 'workbook' }
  /** Undefined when the challenge is off. */
  readonly challenge: ChallengeConfig | undefined
  readonly page: PageConfig
  readonly spam: SiteSettings['spam.']
  /** What its mails say, and whether there is a welcome mail. An undefined member means our own texts. */
  readonly mail: SiteSettings['mail.'] & {
    readonly welcome: SiteSettings['mail.welcome.'] | undefined
  }
  /** Set when no setting names the default tab: if this spreadsheet has only one tab and it is empty, that is the default. */
  readonly defaultTabOf: string | undefined
  /** The columns after the seven, in their order. */
  readonly fields: readonly Field[]
  readonly settingNames: SettingNames
}

/** The only site when no file names others. */
export const defaultSite = 'default'

/** Returns a function that gives what a site says itself, or the environment for it. */
export function siteValues(reader: SettingsReader) {
  const defaults = valuesUnder(reader, '')
  const page = valuesUnder(reader, 'page.')
  const spam = valuesUnder(reader, 'spam.')
  const mail = valuesUnder(reader, 'mail.')
  const welcome = valuesUnder(reader, 'mail.welcome.')
  const welcomes = reader.value('WELCOME_MAIL')
  const isDefaultTabSet = reader.isSet('DEFAULT_SHEET_TAB')
  return (site: DeclaredSite, spreadsheetId: string | undefined) => ({
    ...overlaid(defaults, site),
    page: overlaid(page, site.page ?? {}),
    spam: overlaid(spam, site.spam ?? {}),
    mail: {
      ...overlaid(mail, site.mail ?? {}),
      welcome: ownWelcome(welcome, site.mail?.welcome ?? welcomes),
    },
    defaultTabOf: isDefaultTabSet || site.defaultTab !== undefined ? undefined : spreadsheetId,
  })
}

function valuesUnder<Under extends keyof SiteSettings>(
  reader: SettingsReader,
  under: Under,
): SiteSettings[Under] {
  const values = siteSettings(under).map(([key, name]) => [key, reader.value(name)])
  return Object.fromEntries(values) as SiteSettings[Under]
}

type Welcome = SiteSettings['mail.welcome.']

function ownWelcome(welcome: Welcome, own: 'on' | 'off' | Partial<Welcome>): Welcome | undefined {
  if (own === 'off') return undefined
  return own === 'on' ? welcome : overlaid(welcome, own)
}

type Values = Readonly<Record<string, unknown>>

/** The values, each replaced by that of `own` with the same key if there is one. */
function overlaid<T extends Values>(values: T, own: Values): T {
  const entries = Object.entries(values).map(([key, value]) => [key, own[key] ?? value])
  return Object.fromEntries(entries) as T
}

/** What messages call the settings of a site: paths in the file for what the site says itself. */
export function namesOf(
  name: string,
  { spreadsheet, origins, challenge }: DeclaredSite,
): SettingNames {
  const at = (...keys: string[]) => pathText(['sites', name, ...keys])
  return {
    spreadsheet: spreadsheet === undefined ? environmentNames.spreadsheet : at('spreadsheet'),
    origins: origins === undefined ? environmentNames.origins : at('origins'),
    challenge: challenge
      ? {
          provider: at('challenge', 'provider'),
          siteKey: at('challenge', 'siteKey'),
          secretKey: challenge.secretKeyVariable ?? environmentNames.challenge.secretKey,
          hostnames: at('challenge', 'hostnames'),
        }
      : environmentNames.challenge,
  }
}
