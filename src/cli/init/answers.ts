import { type Config, type Environment, loadConfig } from '../../config/config.ts'
import { ConfigError, type SettingProblem } from '../../config/problem.ts'
import { type Secrets, secretsOf } from '../../config/secrets.ts'

/** The settings that `init` asks for. */
const asked = [
  'SHEETS_SHEET_ID',
  'SHEETS_CREDENTIALS_EMAIL',
  'SHEETS_PRIVATE_KEY',
  'SHEETS_CREDENTIALS_FILE',
  'CHALLENGE_PROVIDER',
  'CHALLENGE_SITE_KEY',
  'CHALLENGE_SECRET_KEY',
  'ALLOWED_ORIGINS',
] as const

export type Asked = (typeof asked)[number]
export type Answers = Readonly<Partial<Record<Asked, string>>>

/** The environment with these answers in place of its own values for what `init` asks. */
function environmentWith(environment: Environment, answers: Answers): Environment {
  const others = Object.entries(environment.variables).filter(
    ([name]) => !asked.some((one) => one === name),
  )
  return { ...environment, variables: { ...Object.fromEntries(others), ...answers } }
}

/** @throws ConfigError when settings that `init` does not ask for are wrong */
export function assertOthers(environment: Environment): void {
  // DATABASE_URL is right only together with a sheet, which is asked for.
  const answers = { SHEETS_SHEET_ID: anyId }
  const problems = problemsOf(environmentWith(environment, answers)).filter(
    ({ setting }) => !asked.some((one) => one === setting),
  )
  if (problems.length > 0) throw new ConfigError(problems)
}

/** What is wrong with one of the answers, in one line. Problems of other settings do not count. */
export function problemWith(
  environment: Environment,
  answers: Answers,
  name: Asked,
): string | undefined {
  const found = problemsOf(environmentWith(environment, answers)).find(
    ({ setting }) => setting === name,
  )
  return found && `This ${found.problem} ${found.hint}`
}

/** The service account in a JSON key file that has no problem. */
export function accountIn(
  environment: Environment,
  path: string,
): { readonly email: string; readonly privateKey: string } {
  const { config, secrets } = loadConfig(
    environmentWith(environment, { SHEETS_SHEET_ID: anyId, SHEETS_CREDENTIALS_FILE: path }),
  )
  return accountOf(config, secrets) ?? { email: '', privateKey: '' }
}

/** The account of the settings as they are, if they name one that can be used. */
export function presentAccount({ variables, ...environment }: Environment): string | undefined {
  try {
    const { config, secrets } = loadConfig({
      ...environment,
      variables: { ...variables, SHEETS_SHEET_ID: anyId },
    })
    return accountOf(config, secrets)?.email
  } catch (error) {
    if (error instanceof ConfigError) return undefined
    throw error
  }
}

/** In the form of an id. */
const anyId = 'x'.repeat(44)

function accountOf({ sites: [site] }: Config, secrets: Secrets) {
  const { spreadsheet } = site
  const { privateKey } = secretsOf(secrets, site)
  if (spreadsheet.kind !== 'google' || privateKey === undefined) return undefined
  return { email: spreadsheet.credentials.email, privateKey }
}

function problemsOf(environment: Environment): readonly SettingProblem[] {
  try {
    loadConfig(environment)
    return []
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
}
