import type { Field } from '../../signup/field.ts'
import type { SettingNames } from '../../platform/setting-names.ts'
import type { ChallengeConfig } from '../challenge.ts'
import type { SettingsReader } from '../reader.ts'
import { bySitePath, type SiteSettings } from '../setting-values.ts'

/** How the pages for visitors look and what they ask for. An undefined member means the default. */
export type PageConfig = SiteSettings['page.']

export interface GoogleConfig {
  readonly kind: 'google'
  readonly spreadsheetId: string
  /** With whom to share, or `noAddress`; how to sign in is in `Secrets`. */
  readonly credentials: { readonly email: string }
  /** Has no slash at the end. */
  readonly apiUrl: string
  readonly tokenUrl: string
  /** The most calls to the Sheets API in any 60 seconds and in any 24 hours. */
  readonly quota: { readonly perMinute: number; readonly perDay: number }
}

type SheetKey = 'spreadsheet' | 'credentialsFile' | 'signIn' | 'subject'

/** What a site has as it is read. */
interface SiteValues extends Omit<SiteSettings[''], SheetKey> {
  readonly closing: SiteSettings['closing.']
  readonly page: PageConfig
  readonly spam: SiteSettings['spam.']
  /** What its mails say, and whether there is a welcome mail. An undefined member means our own texts. */
  readonly mail: Omit<SiteSettings['mail.'], 'welcome'> & {
    readonly welcome: SiteSettings['mail.welcome.'] | undefined
  }
}

/** What belongs to one stream of signups. Holds no secret, so it can be printed. */
export interface SiteConfig extends SiteValues {
  readonly name: string
  readonly spreadsheet: GoogleConfig | { readonly kind: 'workbook' }
  /** Undefined when the challenge is off. */
  readonly challenge: ChallengeConfig | undefined
  /** The columns after the seven, in their order. */
  readonly fields: readonly Field[]
  readonly settingNames: SettingNames
}

/** The only site when no file names others. */
export const defaultSite = 'default'

/** The site of whoever names none: `default`, or the only one there is. With several others one has to be named. */
export function siteWithoutName<Site extends { readonly name: string }>(
  sites: readonly Site[],
): Site | undefined {
  return (
    sites.find(({ name }) => name === defaultSite) ?? (sites.length === 1 ? sites[0] : undefined)
  )
}

/** Reads the settings that a site may have of its own. */
export function readSiteValues(site: SettingsReader): SiteValues {
  const under = <Under extends keyof SiteSettings>(path: Under) =>
    bySitePath(path, (name) => site.value(name)) as unknown as SiteSettings[Under]
  const { spreadsheet: _, credentialsFile: __, signIn: ___, subject: ____, ...values } = under('')
  const closing = under('closing.')
  // A site has texts in the place of “on”.
  const isGreeted = site.value('WELCOME_MAIL') !== 'off'
  return {
    ...values,
    // Without seats, nothing goes to an overflow tab that the site inherits.
    closing: closing.after === undefined ? { ...closing, overflowTab: undefined } : closing,
    page: under('page.'),
    spam: under('spam.'),
    mail: { ...under('mail.'), welcome: isGreeted ? under('mail.welcome.') : undefined },
  }
}
