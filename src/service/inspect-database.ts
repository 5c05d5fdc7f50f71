import type { Config } from '../config/config.ts'
import type { Secrets } from '../config/secrets.ts'
import { connectionsOfInstance } from '../journal/postgres/connections.ts'
import { Unreachable } from '../journal/postgres/reach.ts'
import { readServerFacts, type Risk, type ServerFacts } from '../journal/postgres/server-facts.ts'
import type { Clock } from '../platform/clock.ts'
import type { Finding } from '../spreadsheet/inspection.ts'
import { accessProblem } from './database-access.ts'

const check = 'database'

/** The oldest version that is tested. */
const versionMin = 15
/** Times of signups are ours, and the quota's are the database's. */
const aheadMaxMs = 2_000

/** Looks at the database of the settings. Changes nothing. */
export async function inspectDatabase(
  { database }: Pick<Config, 'database'>,
  { databaseUrl = '' }: Pick<Secrets, 'databaseUrl'>,
  clock: Pick<Clock, 'now'>,
): Promise<readonly Finding[]> {
  try {
    const facts = await readServerFacts(databaseUrl, clock)
    const place = `${database?.name ?? ''} on ${database?.host ?? ''}`
    return [{ check, state: 'ok', message: `${place} is reached` }, ...findingsOf(facts)]
  } catch (error) {
    if (!(error instanceof Unreachable)) throw error
    const { why, hint } = error.reason
    return [{ check, state: 'fault', message: why, hint }]
  }
}

/** What there is to say about a database that is reached. */
export function findingsOf(facts: ServerFacts): readonly Finding[] {
  const said = [
    versionOf(facts),
    encodingOf(facts),
    tablesOf(facts),
    clockOf(facts),
    commitOf(facts),
    connectionsOf(facts),
  ]
    .filter((finding) => finding !== undefined)
    .map((finding) => ({ check, ...finding }))
  return [...said, ...risksOf(facts)]
}

type Said = Omit<Finding, 'check'> | undefined

function ok(message: string): Said {
  return { state: 'ok', message }
}

function versionOf({ product = 'it does not say which' }: ServerFacts): Said {
  const message = `runs ${product.split(/ on |[,(]/)[0]?.trim() ?? ''}`
  const [, version] = /^PostgreSQL (\d+)/.exec(product) ?? []
  if (version === undefined || /Cockroach|-YB-/i.test(product)) {
    const hint = 'Rollcall was tested with PostgreSQL only: docs/scaling.md says what it uses.'
    return { state: 'warning', message, hint }
  }
  if (Number(version) >= versionMin) return ok(message)
  const hint = 'Upgrade it. Rollcall is tested with PostgreSQL 15 and newer.'
  return { state: 'fault', message, hint }
}

function encodingOf({ encoding }: ServerFacts): Said {
  if (encoding === undefined || encoding === 'UTF8') return undefined
  const hint = "Make a new database: CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0."
  return { state: 'fault', message: `its encoding is ${encoding}, which has not all names`, hint }
}

function tablesOf(facts: ServerFacts): Said {
  const problem = accessProblem(facts, 'writing')
  if (problem) return { state: 'fault', ...problem }
  const { tables, tablesWanted, mayMigrate } = facts
  if (tables !== undefined && tables > tablesWanted) {
    const hint = 'Run the newer version here, too.'
    return { state: 'fault', message: 'a newer version of Rollcall made its tables', hint }
  }
  if (tables !== undefined && tables < tablesWanted) {
    const message =
      tables === 0
        ? 'has no tables of Rollcall yet'
        : 'an older version of Rollcall made its tables'
    return { state: 'warning', message, hint: 'The next start of a service makes them.' }
  }
  if (mayMigrate === false) {
    const hint = 'Make it the owner of the tables before you upgrade.'
    const message = 'lets this user use its tables, and not change them'
    return { state: 'warning', message, hint }
  }
  return tables === undefined ? undefined : ok('has the tables of this version')
}

function clockOf({ aheadMs }: ServerFacts): Said {
  if (aheadMs === undefined) return undefined
  const seconds = (Math.abs(aheadMs) / 1000).toFixed(1)
  const message = `its clock is ${seconds} s ${aheadMs > 0 ? 'ahead of' : 'behind'} ours`
  if (Math.abs(aheadMs) <= aheadMaxMs) return ok(message)
  const hint = 'Let a time service (NTP) set the clocks of both machines.'
  return { state: 'warning', message, hint }
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
    const state = name === 'full_page_writes' ? 'warning' : 'fault'
    return { check, state, message: `has a setting that risks signups, ${name}: ${harm}`, hint }
  })
}

function commitOf({ risks, ...facts }: ServerFacts): Said {
  const { synchronousCommit, hasSynchronousStandby } = facts
  if (synchronousCommit === undefined || (risks ?? []).length > 0) return undefined
  const standby =
    hasSynchronousStandby && synchronousCommit !== 'local'
      ? 'and on a standby'
      : 'and on no standby: a failover may lose the last of them'
  return ok(`an answered signup is on its disk ${standby}`)
}

function connectionsOf({ connectionsMax, connectionsLeft }: ServerFacts): Said {
  if (connectionsMax === undefined || connectionsLeft === undefined) return undefined
  const message = `${connectionsLeft} of its ${connectionsMax} connections are free`
  if (connectionsLeft >= connectionsOfInstance) return ok(message)
  const hint = `An instance takes up to ${connectionsOfInstance}: raise max_connections, or use a pooler.`
  return { state: 'warning', message, hint }
}
