import type { EnvFile } from './env-file.ts'
import { settings } from './settings.ts'

const secretSettings: ReadonlySet<string> = new Set(
  settings.filter((setting) => 'secret' in setting).map(({ name }) => name),
)

/**
 * A warning when the `.env` file has secrets and every user of the machine may read it.
 *
 * @param isOpen whether every user may read it
 * @param ofSites the secrets that a file names for its sites
 */
export function exposedSecrets(
  envFile: EnvFile | undefined,
  isOpen: boolean,
  ofSites: ReadonlySet<string> = new Set(),
): readonly string[] {
  const { variables = {} } = envFile ?? {}
  const exposed = Object.keys(variables).filter(
    (name) => variables[name] !== '' && (secretSettings.has(name) || ofSites.has(name)),
  )
  if (!isOpen || exposed.length === 0) return []
  return [
    `Every user of this machine may read the file .env, which has ${exposed.join(', ')}. ` +
      'Give it to the user who runs Rollcall, and run chmod 600 .env.',
  ]
}
