import { type Finding, findingsOf } from '../platform/finding.ts'
import type { Risk, ServerFacts } from '../journal/postgres/server-facts.ts'

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

export type Needs = 'reading' | 'writing'

/**
 * Why the database cannot be used until a person acts: a sentence without its subject. A standby may become
 * the primary by itself.
 */
export function accessProblem(facts: ServerFacts, needs: Needs) {
  const { isStandby = false, isReadOnly, isForeign, mayEnter, tables, mayMigrate } = facts
  const { rightsMissing = [] } = facts
  const writes = needs === 'writing'
  const missing = writes ? rightsMissing : rightsMissing.filter((right) => right === 'SELECT')
  const rights = missing.join(', ')
  const problem = (message: string, hint: string) => {
    return { message, hint, isStandby: writes && isStandby }
  }
  if (writes && isStandby) {
    const hint = 'Give the host of the primary in DATABASE_URL.'
    return problem('is a standby, which takes no signups', hint)
  }
  if (writes && isReadOnly) {
    return problem(
      'is read-only: its setting default_transaction_read_only is on',
      'Turn it off for the database and its user. A provider may have turned it on because the disk is full.',
    )
  }
  if (isForeign) {
    const hint = 'Make a database for Rollcall alone, or rename that schema.'
    return problem('has a schema rollcall with the tables of another program', hint)
  }
  if (mayEnter === false) {
    const hint = 'Let its owner run GRANT USAGE ON SCHEMA rollcall TO this user.'
    return problem('does not let this user into its schema rollcall', hint)
  }
  if (rights !== '') {
    const hint = `Let their owner run GRANT ${rights} ON ALL TABLES IN SCHEMA rollcall TO this user.`
    return problem(`does not give this user the right to ${rights} in its tables`, hint)
  }
  if (!writes || tables !== 0 || mayMigrate !== false) return undefined
  return problem(
    'does not let this user make tables',
    'Make it the owner of the database, or give it GRANT CREATE ON DATABASE, or on its schema rollcall.',
  )
}

function tablesOf(facts: ServerFacts): Said {
  const problem = accessProblem(facts, 'writing')
  if (problem) return fault(problem.message, problem.hint)
  const { tables, otherVersion, mayMigrate } = facts
  if (tables === 0) {
    return warning('has no tables of Rollcall yet', 'The next start of a service makes them.')
  }
  if (otherVersion) {
    return fault(`has a journal of no use here: ${otherVersion.why}`, `${otherVersion.hint}.`)
  }
  if (mayMigrate === false) {
    const hint = 'Make it the owner of the tables before you upgrade.'
    return warning('lets this user use its tables, and not change them', hint)
  }
  return tables === undefined ? undefined : ok('has the tables of this version')
}

/** What each setting does that loses signups, and what to do. */
const risks: readonly (readonly [name: Risk, harm: string, hint: string])[] = [
  ['fsync', 'a power cut loses signups that were answered', 'Turn fsync on.'],
  [
    'full_page_writes',
    'a power cut may damage the journal',
    'Turn full_page_writes on, unless its file system writes whole pages only, as ZFS does.',
  ],
  [
    'data_sync_retry',
    'after an error of its disk it may go on without signups that were answered',
    'Turn data_sync_retry off.',
  ],
  [
    'zero_damaged_pages',
    'it empties damaged pages, and goes on without the signups in them',
    'Turn zero_damaged_pages off.',
  ],
]

/** How the server may lose signups that were answered. Each message is a sentence without its subject. */
export function risksOf(facts: Pick<ServerFacts, 'risks'>): readonly Finding[] {
  const found = risks.filter(([name]) => facts.risks?.includes(name))
  return found.map(([name, harm, hint]) => {
    const say = name === 'full_page_writes' ? warning : fault
    return say(`has a setting that risks signups, ${name}: ${harm}`, hint)
  })
}
