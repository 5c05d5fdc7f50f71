/** What messages call the settings of a site: a variable, or a path in the file that names the sites. */
export interface SettingNames {
  readonly spreadsheet: string
  readonly origins: string
  readonly challenge: ChallengeNames
}

export interface ChallengeNames {
  readonly provider: string
  readonly siteKey: string
  readonly secretKey: string
  readonly hostnames: string
}

/** The names when the environment decides. */
export const environmentNames: SettingNames = {
  spreadsheet: 'SHEETS_SHEET_ID',
  origins: 'ALLOWED_ORIGINS',
  challenge: {
    provider: 'CHALLENGE_PROVIDER',
    siteKey: 'CHALLENGE_SITE_KEY',
    secretKey: 'CHALLENGE_SECRET_KEY',
    hostnames: 'CHALLENGE_HOSTNAMES',
  },
}
