import type { Config } from '../config/config.ts'
import { ConfigError } from '../config/problem.ts'
import { accessProblem, type Needs } from '../journal/postgres/inspection.ts'
import { Unreachable } from '../journal/postgres/reach.ts'
import { readServerFacts, type ServerFacts } from '../journal/postgres/server-facts.ts'
import type { Clock } from '../platform/clock.ts'

/**
 * Reads the facts of the database of this URL.
 *
 * @throws ConfigError when it cannot be used until a person acts; Unreachable when waiting may help; Error
 *   when it is a standby: a failover may make it the primary, so whoever starts the service may try again
 */
export async function readUsable(
  url: string,
  { database }: Pick<Config, 'database'>,
  { clock, needs }: { readonly clock: Clock; readonly needs: Needs },
): Promise<ServerFacts> {
  const refuse = (message: string, hint: string, cause?: unknown) => {
    const problem = {
      setting: 'DATABASE_URL',
      problem: `names a database that ${message}.`,
      given: `${database?.name ?? ''} on ${database?.host ?? ''}`,
      expected: 'a database in which its user may make, read and change the tables of Rollcall',
      hint,
    }
    return new ConfigError([problem], { cause })
  }
  const facts = await readServerFacts(url, clock).catch((error: unknown) => {
    if (!(error instanceof Unreachable) || error.reason.mayPass) throw error
    throw refuse(error.reason.why, error.reason.hint, error)
  })
  const problem = accessProblem(facts, needs)
  if (!problem) return facts
  const { message, hint, isStandby } = problem
  if (isStandby) throw new Error(`The database of DATABASE_URL ${message}. ${hint}`)
  throw refuse(message, hint)
}
