import { contentOf, fingerprintOf } from '../../src/intake/idempotency.ts'
import { readBody } from '../../src/http/body.ts'
import { Budget } from '../../src/http/budget.ts'
import { RateLimit } from '../../src/http/rate-limit.ts'
import { fingerprintHash, keyHashing, newSecret } from '../../src/journal/hashes.ts'
import { createLog } from '../../src/ops/log.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { journalHomeOf } from '../../src/service/journal-home.ts'
import { runningSites } from '../../src/service/site.ts'
import { createWeb } from '../../src/service/web.ts'
import { realWorld } from '../../src/service/world.ts'
import { signupIds } from '../../src/signup/id.ts'
import { limits } from '../../src/signup/limits.ts'
import { parseSignup } from '../../src/signup/parse.ts'
import { openSqliteJournal } from '../../harness/sqlite-journal.ts'
import { tempFolder } from '../../harness/temp-folder.ts'
import { deliverySettings } from '../delivery.ts'
import { usualSignup } from '../journals.ts'
import { newKey, usualBody } from '../load.ts'
import { atMost, type Scenario } from '../scenario.ts'

/** So many signups are on their way together, as from so many connections. */
const together = 64
/** How often so many, in each round. */
const times = 100

/** Makes what one signup passes. It may use what is disposed of at the end. */
type Stay = (used: AsyncDisposableStack) => (() => unknown) | Promise<() => unknown>

const bytes = new TextEncoder().encode(usualBody)
const address = '203.0.113.9'
const context = { defaultTab: 'Sheet1', source: 'api' } as const
const { signal } = new AbortController()

/** A posted request without a connection. */
function posted(body: Uint8Array<ArrayBuffer>, isKeyed = false) {
  const headers = new Map([
    ['content-type', 'application/json'],
    ['content-length', String(body.length)],
    ['host', 'localhost'],
    ...(isKeyed ? [['idempotency-key', newKey()] as const] : []),
  ])
  return {
    ...{ method: 'POST', url: 'http://localhost/api/signup', signal, body: null },
    headers: { get: (name: string) => headers.get(name) ?? null },
    bytes: async () => body,
  }
}

const reading: Stay = () => {
  const arriving = new Budget({ max: 1e9, clientMax: 1e9 })
  const bodies = { bytesMax: limits.bodyBytesMax, formFieldsMax: limits.formFieldsMax, arriving }
  const client = { share: { client: address, part: 1 } }
  return () => readBody({ request: posted(bytes), client }, bodies)
}

const parsing: Stay = () => () => parseSignup(JSON.parse(usualBody), context)

/** A request looks for its key, looks again, and stores it. */
const keying: Stay = () => {
  const secret = newSecret()
  const hashOf = keyHashing(secret)
  const parsed = parseSignup(JSON.parse(usualBody), context)
  return () => {
    const key = { space: '', key: newKey() }
    const content = fingerprintOf('signup', parsed.ok ? contentOf(parsed.value) : [])
    return [hashOf(key), hashOf(key), hashOf(key), fingerprintHash(secret, content)]
  }
}

const limiting: Stay = () => {
  const limit = new RateLimit({ policy: 'signups', perMinute: 1e9, clock: systemClock })
  return () => limit.isSpent(address) || limit.take(address, 1)
}

function appending(isKeyed: boolean): Stay {
  return async (used) => {
    const { path } = used.use(await tempFolder())
    const { intake } = used.use(openSqliteJournal(`${path}/journal.db`))
    const newId = signupIds()
    const usual = usualSignup(0)
    const keyed = () => ({ space: '', key: newKey(), fingerprint: 'content' })
    return () => {
      const idempotency = isKeyed ? keyed() : undefined
      return intake.append([{ ...usual, id: newId(usual.receivedAt) }], { idempotency })
    }
  }
}

/** The application without a connection. @param status of its answers */
function answering(body: string, status: number, isKeyed = false): Stay {
  return async (used) => {
    const { path } = used.use(await tempFolder())
    const settings = deliverySettings(path, 'http://127.0.0.1:9', { RATE_LIMIT_PER_MINUTE: '0' })
    const { config, secrets } = settings
    const log = createLog('error')
    const home = await journalHomeOf(config, secrets, realWorld)
    const journal = used.use(await home.open({ log }))
    const sites = runningSites(config, secrets, journal, log, realWorld.clock)
    const parts = { config, secrets, sites, journal, home, log, metrics: undefined }
    const { application } = await createWeb({ ...parts, started: used, world: realWorld })
    const given = new TextEncoder().encode(body)
    return async () => {
      const answer = await application.fetch(posted(given, isKeyed), { remoteAddress: address })
      if (answer.status !== status) throw new Error(`Answered ${answer.status}, not ${status}.`)
    }
  }
}

const stays: readonly (readonly [name: string, what: string, max: number, stay: Stay])[] = [
  ['body', 'body, read and decoded', 3, reading],
  ['parse', 'signup, parsed', 5, parsing],
  ['limit', 'limit of the client, looked at and counted', 0.6, limiting],
  ['key', 'key and content, hashed', 15, keying],
  ['append', 'journal with its commit', 15, appending(false)],
  ['append-keyed', 'the same with a key', 50, appending(true)],
  ['whole', 'all of them, from the headers to the answer', 30, answering(usualBody, 202)],
  ['whole-keyed', 'the same with a key', 90, answering(usualBody, 202, true)],
  ['whole-refused', 'the same of one that is refused', 20, answering('{"email":"ada"}', 422)],
]

/** What each part of the way of a posted signup costs in a loop (docs/decisions/performance.md). */
export const stayScenarios = stays.map(([name, what, max, stay]): Scenario => ({
  name: `stays-${name}`,
  what: `CPU of a signup in a loop: ${what}`,
  unit: 'µs',
  reach: atMost(max),
  aim: atMost(max / 2),
  async run({ rounds }) {
    await using used = new AsyncDisposableStack()
    const work = await stay(used)
    const values: number[] = []
    // The first rounds warm up.
    for (let round = -rounds; round < rounds; round++) {
      const before = process.cpuUsage()
      for (let time = 0; time < times; time++) {
        await Promise.all(Array.from({ length: together }, work))
      }
      const { user, system } = process.cpuUsage(before)
      if (round >= 0) values.push((user + system) / (times * together))
    }
    return { values, note: `${together} at a time` }
  },
}))
