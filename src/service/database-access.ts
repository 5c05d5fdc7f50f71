import type { Config } from '../config/config.ts'
import { ConfigError } from '../config/problem.ts'
import { Unreachable } from '../journal/postgres/reach.ts'
import { readServerFacts, type ServerFacts } from '../journal/postgres/server-facts.ts'
import type { Clock } from '../platform/clock.ts'

interface Problem {
  /** A sentence without its subject. */
  readonly message: string
  readonly hint: string
  readonly isStandby?: boolean
}

/** What a database is opened for. */
export type Needs = 'reading' | 'writing'

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

/** Why the database cannot be used until a person acts. */
export function accessProblem(facts: ServerFacts, needs: Needs): Problem | undefined {
  const { isStandby, isReadOnly, isForeign, mayEnter, rightsMissing = [] } = facts
  if (isReadOnly && needs === 'writing') {
    return isStandby
      ? {
          isStandby,
          message: 'is a standby, which takes no signups',
          hint: 'Give the host of the primary in DATABASE_URL.',
        }
      : {
          message: 'is read-only: its setting default_transaction_read_only is on',
          hint: 'Turn it off for the database and its user. A provider may have turned it on because the disk is full.',
        }
  }
  if (isForeign) {
    return {
      message: 'has a schema rollcall with the tables of another program',
      hint: 'Make a database for Rollcall alone, or rename that schema.',
    }
  }
  if (mayEnter === false) {
    return {
      message: 'does not let this user into its schema rollcall',
      hint: 'Let its owner run GRANT USAGE ON SCHEMA rollcall TO this user.',
    }
  }
  const missing = needs === 'writing' ? rightsMissing : rightsMissing.filter(isSelect)
  if (missing.length > 0) {
    const rights = missing.join(', ')
    return {
      message: `does not give this user the right to ${rights} in its tables`,
      hint: `Let their owner run GRANT ${rights} ON ALL TABLES IN SCHEMA rollcall TO this user.`,
    }
  }
  return needs === 'writing' ? rightToMigrate(facts) : undefined
}

function isSelect(right: string): boolean {
  return right === 'SELECT'
}

function rightToMigrate({ tables, tablesWanted, mayMigrate }: ServerFacts) {
  if (mayMigrate !== false || tables === undefined || tables >= tablesWanted) return undefined
  return tables === 0
    ? {
        message: 'does not let this user make tables',
        hint: 'Make it the owner of the database, or give it GRANT CREATE ON DATABASE, or on its schema rollcall.',
      }
    : {
        message: 'does not let this user change its tables, as this version has to',
        hint: 'Make it the owner of the tables.',
      }
}
