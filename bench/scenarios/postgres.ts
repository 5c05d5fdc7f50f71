import type { RunningService } from '../../harness/start-service.ts'
import { alternate, inWords, ratios, type Subject } from '../alternate.ts'
import { deliver } from '../deliver-backlog.ts'
import { fillJournal } from '../journals.ts'
import { requestsPerSecond, usualBody } from '../load.ts'
import { fillDatabase, query } from '../postgres-journals.ts'
import { cpuMicrosecondsOfAll } from '../processes.ts'
import { atLeast, atMost, type Measured, type Scenario, type Sizes } from '../scenario.ts'
import { World } from '../world.ts'

const connections = 256

/** Starts one instance, on the measured core. The database and the load use the others, too. */
async function instance(world: World, provider: RunningService, databaseUrl: string) {
  return underLoad(world, await world.service(provider, { env: { DATABASE_URL: databaseUrl } }))
}

/** Starts instances on one database, on all cores. They share the load. */
async function instances(
  world: World,
  provider: RunningService,
  databaseUrl: string,
  count: number,
): Promise<Subject> {
  const options = { env: { DATABASE_URL: databaseUrl }, isPinned: false }
  const [first, ...others] = await Promise.all(
    Array.from({ length: count }, () => world.service(provider, options)),
  )
  if (!first) throw new Error('At least one instance is needed.')
  const share = Math.ceil(connections / count)
  const slice = async (_url: string, seconds: number) => {
    const rates = [first, ...others].map((instance) => load(world, instance, share, seconds))
    return (await Promise.all(rates)).reduce((sum, rate) => sum + rate, 0)
  }
  return { service: first, others, slice, settleSeconds: 1 }
}

function underLoad(world: World, service: RunningService): Subject {
  const slice = (_url: string, seconds: number) => load(world, service, connections, seconds)
  return { service, slice, settleSeconds: 1 }
}

function load({ folder }: World, { url }: RunningService, count: number, seconds: number) {
  const options = { url: `${url}/api/signup`, connections: count, body: usualBody, folder }
  return requestsPerSecond({ ...options, seconds })
}

interface Compared extends Omit<Scenario, 'unit' | 'run'> {
  readonly subjects: (world: World, sizes: Sizes) => Promise<Subjects>
}

interface Subjects {
  readonly base: Subject
  readonly subject: Subject
  /** What the signups have cost the database. To call after the measurement. */
  readonly cost?: () => Promise<string>
}

/** The rate of one subject divided by that of another. */
function compared({ subjects, ...scenario }: Compared): Scenario {
  return {
    ...scenario,
    unit: '×',
    async run(sizes): Promise<Measured> {
      await using world = await World.create()
      const measured = await subjects(world, sizes)
      const rates = await alternate(measured.base, measured.subject, sizes)
      const more = await measured.cost?.()
      return { values: ratios(rates), note: [inWords(rates), more].filter(Boolean).join('; ') }
    },
  }
}

function severalInstances(
  count: number,
  options: Pick<Scenario, 'reach' | 'aim' | 'variantOf'>,
): Scenario {
  return compared({
    ...options,
    name: `postgres-${count}`,
    what: `${count} instances on one PostgreSQL against one, ${connections} connections in all`,
    async subjects(world) {
      const server = await world.database()
      const provider = await world.provider()
      const one = await fillDatabase(server, 1, 'written')
      const several = await fillDatabase(server, 1, 'written')
      return {
        base: await instances(world, provider, one, 1),
        subject: await instances(world, provider, several, count),
      }
    },
  })
}

function filled(
  options: Pick<Scenario, 'name' | 'variantOf'>,
  size: 'large' | 'huge',
  count: string,
): Scenario {
  return compared({
    ...options,
    what: `one instance with ${count} signups in PostgreSQL against 1,000`,
    reach: atLeast(0.95),
    aim: atLeast(1),
    async subjects(world, sizes) {
      const server = await world.database()
      const provider = await world.provider()
      const small = await fillDatabase(server, sizes.small, 'written')
      const large = await fillDatabase(server, sizes[size], 'written')
      return {
        base: await instance(world, provider, small),
        subject: await instance(world, provider, large),
      }
    },
  })
}

/** What a signup costs the database: transactions, bytes of its log, bytes on disk. */
async function costOf(url: string): Promise<() => Promise<string>> {
  const read = async () => {
    const { rows } = await query(
      url,
      `SELECT xact_commit AS commits, pg_current_wal_lsn() - '0/0' AS wal,
         pg_database_size(current_database()) AS size,
         (SELECT position FROM rollcall.head) AS signups
       FROM pg_stat_database WHERE datname = current_database()`,
    )
    const [row = {}] = rows
    return (name: string) => Number(row[name])
  }
  const before = await read()
  return async () => {
    const after = await read()
    const perSignup = (name: string) =>
      (after(name) - before(name)) / (after('signups') - before('signups'))
    const commits = (1 / perSignup('commits')).toFixed(0)
    const [wal, size] = [perSignup('wal'), perSignup('size')].map((bytes) => bytes.toFixed(0))
    return `${commits} signups a transaction, ${wal} bytes of log and ${size} on disk a signup`
  }
}

export const postgresScenarios: readonly Scenario[] = [
  compared({
    name: 'postgres-1',
    what: `one instance on PostgreSQL against one on SQLite, ${connections} connections`,
    reach: atLeast(0.8),
    aim: atLeast(1),
    async subjects(world) {
      const server = await world.database()
      const provider = await world.provider()
      const url = await fillDatabase(server, 1, 'written')
      return {
        base: underLoad(world, await world.service(provider)),
        subject: await instance(world, provider, url),
        cost: await costOf(url),
      }
    },
  }),
  severalInstances(2, { reach: atLeast(0.9), aim: atLeast(1) }),
  severalInstances(4, { reach: atLeast(0.9), aim: atLeast(1), variantOf: 'postgres-2' }),
  {
    name: 'postgres-delivery',
    what: 'CPU per delivered row of 1,000,000 on PostgreSQL, with that of the database, against SQLite',
    unit: '×',
    reach: atMost(1.5),
    aim: atMost(1),
    async run(sizes) {
      await using world = await World.create()
      const server = await world.database()
      const values: number[] = []
      let words = ''
      // CPU time has little noise, and a round takes a minute.
      const rounds = Math.min(3, sizes.rounds)
      for (let round = 0; round < rounds; round++) {
        const dataDir = await fillJournal(world.path(`data-${round}`), sizes.large, 'waiting')
        const ours = await deliver(world, { DATA_DIR: dataDir })
        const url = await fillDatabase(server, sizes.large, 'waiting')
        const before = cpuMicrosecondsOfAll(server.pid)
        const theirs = await deliver(world, { DATABASE_URL: url })
        const database = cpuMicrosecondsOfAll(server.pid) - before
        const [base, instance] = [ours, theirs].map((one) => one.cpuMicroseconds / one.rows)
        const inDatabase = database / theirs.rows
        values.push(((instance ?? 0) + inDatabase) / (base ?? 0))
        words = [instance, inDatabase, base].map((micro) => micro?.toFixed(1)).join(' and ')
      }
      return {
        values,
        note: `µs a row: the instance, the database, one service on SQLite: ${words}`,
      }
    },
  },
  filled({ name: 'postgres-large' }, 'large', '1,000,000'),
  filled({ name: 'postgres-huge', variantOf: 'postgres-large' }, 'huge', '10,000,000'),
]
