import { type Finding, findingsOf } from '../signup/finding.ts'
import type { Risk, ServerFacts } from '../journal/contracts/server-facts.ts'

const { ok, warning, fault } = findingsOf('database')

/** The oldest version that is tested. */
const versionMin = 15

/** What there is to say about a database that is reached. */
export function inspectFacts(facts: ServerFacts): readonly Finding[] {
  const said = [versionOf(facts), encodingOf(facts), tablesOf(facts)]
  return [...said.filter((finding) => finding !== undefined), ...risksOf(facts)]
}

type Said = Finding | undefined

function versionOf({ product = 'it does not say which' }: ServerFacts): Said {
  const message = `runs ${product.split(/ on |[,(]/)[0]?.trim() ?? ''}`
  const [, version] = /^PostgreSQL (\d+)/.exec(product) ?? []
  if (version === undefined || /Cockroach|-YB-/i.test(product)) {
    const hint = 'Rollcall was tested with PostgreSQL only: docs/scaling.md says what it uses.'
    return warning(message, hint)
  }
  if (Number(version) >= versionMin) return ok(message)
  return fault(message, 'Upgrade it. Rollcall is tested with PostgreSQL 15 and newer.')
}

function encodingOf({ encoding }: ServerFacts): Said {
  if (encoding === undefined || encoding === 'UTF8') return undefined
  const hint = "Make a new database: CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0."
  return fault(`its encoding is ${encoding}, which has not all names`, hint)
}

interface AccessProblem {
  /** A sentence without its subject. */
  readonly message: string
  readonly hint: string
  readonly isStandby?: boolean
}

/** What a database is opened for. */
export type Needs = 'reading' | 'writing'

/** Why the database cannot be used until a person acts. */
export function accessProblem(facts: ServerFacts, needs: Needs): AccessProblem | undefined {
  const {
    isStandby,
    isReadOnly,
    isForeign,
    mayEnter,
    rightsMissing = [],
    tables,
    mayMigrate,
  } = facts
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
  if (needs === 'writing' && tables === 0 && mayMigrate === false) {
    return {
      message: 'does not let this user make tables',
      hint: 'Make it the owner of the database, or give it GRANT CREATE ON DATABASE, or on its schema rollcall.',
    }
  }
  return undefined
}

function isSelect(right: string): boolean {
  return right === 'SELECT'
}

function tablesOf(facts: ServerFacts): Said {
  const problem = accessProblem(facts, 'writing')
  if (problem) return fault(problem.message, problem.hint)
  const { tables, tablesWanted, mayMigrate } = facts
  if (tables !== undefined && tables > tablesWanted) {
    return fault('a newer version of Rollcall made its tables', 'Run the newer version here, too.')
  }
  if (tables === 0) {
    return warning('has no tables of Rollcall yet', 'The next start of a service makes them.')
  }
  if (tables !== undefined && tables < tablesWanted) {
    const hint = 'Start that version until it has delivered everything, then give another database.'
    return fault('a version of Rollcall that was never released made its tables', hint)
  }
  if (mayMigrate === false) {
    const hint = 'Make it the owner of the tables before you upgrade.'
    const message = 'lets this user use its tables, and not change them'
    return warning(message, hint)
  }
  return tables === undefined ? undefined : ok('has the tables of this version')
}

/** What each setting does that loses signups. */
const risks: ReadonlyMap<Risk, { readonly harm: string; readonly hint: string }> = new Map([
  ['fsync', { harm: 'a power cut loses signups that were answered', hint: 'Turn fsync on.' }],
  [
    'full_page_writes',
    {
      harm: 'a power cut may damage the journal',
      hint: 'Turn full_page_writes on, unless its file system writes whole pages only, as ZFS does.',
    },
  ],
  [
    'data_sync_retry',
    {
      harm: 'after an error of its disk it may go on without signups that were answered',
      hint: 'Turn data_sync_retry off.',
    },
  ],
  [
    'zero_damaged_pages',
    {
      harm: 'it empties damaged pages, and goes on without the signups in them',
      hint: 'Turn zero_damaged_pages off.',
    },
  ],
])

/** How the server may lose signups that were answered. Each message is a sentence without its subject. */
export function risksOf(facts: Pick<ServerFacts, 'risks'>): readonly Finding[] {
  return (facts.risks ?? []).map((name) => {
    const { harm = '', hint = '' } = risks.get(name) ?? {}
    const say = name === 'full_page_writes' ? warning : fault
    return say(`has a setting that risks signups, ${name}: ${harm}`, hint)
  })
}
