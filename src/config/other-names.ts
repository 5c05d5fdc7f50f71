import type { SettingName } from './settings.ts'

export interface OtherName {
  /** The setting that is meant. */
  readonly meant: SettingName
  /**
   * Whether it is refused wherever it comes from: it would leave the door open, or send rows to the
   * local workbook. The others are refused in an `.env` file; the environment of the process is full
   * of other programs' names, so there they are a warning.
   */
  readonly isRefusedEverywhere: boolean
}

/** Shorter or longer names for a setting. `nearMiss` finds what is only a few letters away. */
const nearOurs: Readonly<Record<string, OtherName>> = {
  SHEET_ID: { meant: 'SHEETS_SHEET_ID', isRefusedEverywhere: true },
  GOOGLE_SHEET_ID: { meant: 'SHEETS_SHEET_ID', isRefusedEverywhere: true },
  DEFAULT_TAB: { meant: 'DEFAULT_SHEET_TAB', isRefusedEverywhere: false },
  DATA_DIRECTORY: { meant: 'DATA_DIR', isRefusedEverywhere: false },
}

/** What the providers' own guides call it. Each pattern stands for a few names only. */
const ofProviders: readonly (readonly [RegExp, OtherName])[] = [
  [
    /^(CF_|CLOUDFLARE_)?(TURNSTILE|HCAPTCHA|RECAPTCHA)_SECRET(_?KEY)?$/,
    { meant: 'CHALLENGE_SECRET_KEY', isRefusedEverywhere: true },
  ],
  [
    /^(CF_|CLOUDFLARE_)?(TURNSTILE|HCAPTCHA|RECAPTCHA)_SITE_?KEY$/,
    { meant: 'CHALLENGE_SITE_KEY', isRefusedEverywhere: true },
  ],
  [
    /^(GOOGLE_|GOOGLE_SHEETS_)?SPREADSHEET_ID$|^GOOGLE_SHEETS_(SHEET_)?ID$/,
    { meant: 'SHEETS_SHEET_ID', isRefusedEverywhere: true },
  ],
  [
    /^GOOGLE_(SHEETS_|SERVICE_ACCOUNT_)?PRIVATE_KEY$/,
    { meant: 'SHEETS_PRIVATE_KEY', isRefusedEverywhere: false },
  ],
  [
    /^GOOGLE_(SHEETS_)?(SERVICE_ACCOUNT_|CLIENT_)EMAIL$/,
    { meant: 'SHEETS_CREDENTIALS_EMAIL', isRefusedEverywhere: false },
  ],
]

/** What Rollcall calls the thing that others know by this name. */
export function otherName(name: string): OtherName | undefined {
  if (Object.hasOwn(nearOurs, name)) return nearOurs[name]
  return ofProviders.find(([pattern]) => pattern.test(name))?.[1]
}
