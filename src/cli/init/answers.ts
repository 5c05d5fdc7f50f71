import { type Environment, loadConfig } from '../../config/config.ts'
import type { Account } from '../../config/google-key/sign-in.ts'
import { ConfigError } from '../../config/problem.ts'
import { secretsOf } from '../../config/secrets.ts'

/** Each says something of the account. */
export const accountNames = [
  'SHEETS_CREDENTIALS_EMAIL',
  'SHEETS_PRIVATE_KEY',
  'SHEETS_CREDENTIALS_FILE',
  'SHEETS_SIGN_IN',
  'SHEETS_SUBJECT',
] as const

const asked = [
  ...accountNames,
  'SHEETS_SHEET_ID',
  'CHALLENGE_PROVIDER',
  'CHALLENGE_SITE_KEY',
  'CHALLENGE_SECRET_KEY',
  'ALLOWED_ORIGINS',
] as const

export type Asked = (typeof asked)[number]
export type Answers = Readonly<Partial<Record<Asked | 'DEFAULT_SHEET_TAB', string | undefined>>>

/** In the form of an id. */
const anyId = 'x'.repeat(44)

/** The environment with these answers in place of its own values for what `init` asks. */
export function environmentWith(environment: Environment, answers: Answers): Environment {
  const others = Object.entries(environment.variables).filter(([name]) => !isAsked(name))
  return { ...environment, variables: { ...Object.fromEntries(others), ...answers } }
}

function isAsked(setting: string): boolean {
  return asked.some((name) => name === setting)
}

/** @throws ConfigError when settings that `init` does not ask for are wrong */
export function assertOthers(environment: Environment): void {
  // DATABASE_URL is right only together with a sheet, which is asked for.
  const found = load(environmentWith(environment, { SHEETS_SHEET_ID: anyId }))
  const problems = found.problems.filter(({ setting }) => !isAsked(setting))
  if (problems.length > 0) throw new ConfigError(problems)
}

/** What is wrong with one of the answers, in one line. Problems of other settings do not count. */
export function problemWith(
  environment: Environment,
  answers: Answers,
  name: Asked,
): string | undefined {
  const { problems } = load(environmentWith(environment, answers))
  const found = problems.find(({ setting }) => setting === name)
  return found && `This ${found.problem} ${found.hint}`
}

/** What these answers say of the account; undefined when it cannot be used. */
export function accountOf(environment: Environment, answers: Answers): Account | undefined {
  const read = load(environmentWith(environment, { ...answers, SHEETS_SHEET_ID: anyId }))
  if (!read.config) return undefined
  const [site] = read.config.sites
  const { signIn } = secretsOf(read.secrets, site)
  if (site.spreadsheet.kind !== 'google' || signIn === undefined) return undefined
  return { ...site.spreadsheet.credentials, signIn }
}

/** What the settings come to, or else what is wrong with them. */
export function load(environment: Environment) {
  try {
    return { ...loadConfig(environment), problems: [] }
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return { config: undefined, problems: error.problems }
  }
}
