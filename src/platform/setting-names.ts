/** The settings that a site may have of its own, as far as messages at work name them. */
const named = [
  ...(['SHEETS_SHEET_ID', 'ALLOWED_ORIGINS', 'CHALLENGE_PROVIDER'] as const),
  ...(['CHALLENGE_SITE_KEY', 'CHALLENGE_SECRET_KEY', 'CHALLENGE_HOSTNAMES'] as const),
]

/** What messages call each of them: a variable, or a path in the file that names the sites. */
export type SettingNames = Readonly<Record<(typeof named)[number], string>>

/** What they are called, each by its own name unless `nameOf` says otherwise. */
export function settingNamesBy(nameOf: (name: keyof SettingNames) => string): SettingNames {
  return Object.fromEntries(named.map((name) => [name, nameOf(name)])) as SettingNames
}

/** The names when the environment decides. */
export const environmentNames = settingNamesBy((name) => name)
