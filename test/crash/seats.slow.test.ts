// @module-tag slow
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'

import { type Fault, seededRandom } from '../../emulators/google-sheets/faults.ts'
import { createDatabaseWorld } from '../../harness/database-world.ts'
import { allDelivered } from '../../harness/delivery-state.ts'
import { mailLink } from '../../harness/mail-links.ts'
import { type PostgresServer, startPostgres } from '../../harness/postgres-server.ts'
import { postSuspect } from '../../harness/post-suspect.ts'
import { addressesIn } from '../../harness/read-workbook.ts'
import { runCommand } from '../../harness/run-command.ts'
import { type RunningService, startService } from '../../harness/start-service.ts'
import { tempFolder } from '../../harness/temp-folder.ts'
import type { BulkAccepted, SignupAccepted, SignupStatusAnswer } from '../../src/signup/wire.ts'
import { Instances } from './instances.ts'

const seats = 50
const connections = 64
const overflowTab = 'Waiting list'
const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)

console.log(`seats: seed ${seed}`)

let server: PostgresServer
beforeAll(async () => void (server = await startPostgres()))
afterAll(() => server[Symbol.asyncDispose]())

/** What somebody was told in the end: that there is a seat, that it is a waiting list, or that it is closed. */
type Told = 'seat' | 'overflow' | 'closed'
/** Asks until there is a clear answer. Resolves with what each address was told. */
type Ask = (nextUrl: () => string) => Promise<readonly (readonly [email: string, told: Told])[]>

const toldBy = (item: object): Told => ('overflow' in item ? 'overflow' : 'seat')

/** Asks again and again, until a service answers. */
async function insist(nextUrl: () => string, path: string, init?: RequestInit): Promise<Response> {
  for (;;) {
    try {
      const answer = await fetch(`${nextUrl()}${path}`, init)
      // The whole answer, as its process may be killed before its end.
      const text = await answer.text()
      if (answer.status !== 503) return new Response(text, answer)
    } catch (error) {
      if (!(error instanceof TypeError)) throw error
    }
    await sleep(30)
  }
}

/** What is posted with a key of its own. */
function posted(body: string, type: string): RequestInit {
  const headers = { 'content-type': type, accept: json, 'idempotency-key': body.slice(0, 200) }
  return { method: 'POST', headers, body }
}

const json = 'application/json'
const form = 'application/x-www-form-urlencoded'

function single(email: string, isForm: boolean): Ask {
  const body = isForm ? new URLSearchParams({ email }).toString() : JSON.stringify({ email })
  return async (nextUrl) => {
    const answer = await insist(nextUrl, '/api/signup', posted(body, isForm ? form : json))
    if (answer.status === 410) return [[email, 'closed']]
    expect(answer.status).toBe(202)
    return [[email, toldBy((await answer.json()) as SignupAccepted)]]
  }
}

function bulk(emails: readonly string[]): Ask {
  const body = JSON.stringify({ signups: emails.map((email) => ({ email })) })
  return async (nextUrl) => {
    const answer = await insist(nextUrl, '/api/signup/bulk', posted(body, json))
    if (answer.status === 410) return emails.map((email) => [email, 'closed'])
    const { results } = (await answer.json()) as BulkAccepted
    return results.map((item, index) => {
      return [emails[index] ?? '', item.status === 'rejected' ? 'closed' : toldBy(item)]
    })
  }
}

/** Presses the button of a mail. What came of it, the status of the signup tells. */
function confirmation(email: string, path: string, id: string): Ask {
  return async (nextUrl) => {
    await insist(nextUrl, path, posted('decision=confirm', form))
    const answer = await insist(nextUrl, `/api/signup/${id}`)
    const { status, sheetTab } = (await answer.json()) as SignupStatusAnswer
    if (status === 'pending') return [[email, 'closed']]
    return [[email, sheetTab === overflowTab ? 'overflow' : 'seat']]
  }
}

/**
 * 2,000 signups: half of them in one request, and the others alone, by forms and by tens. Early among them 40 people
 * confirm what they have asked for.
 *
 * @param journal as `mailLink` takes it
 */
async function requests(
  random: () => number,
  journal: Parameters<typeof mailLink>[0],
): Promise<readonly Ask[]> {
  const emails = (kind: string, count: number) =>
    Array.from({ length: count }, (_, nth) => `${kind}${nth}@example.com`)
  const asks = [
    ...emails('api', 250).map((email) => single(email, false)),
    ...emails('form', 250).map((email) => single(email, true)),
    ...Array.from({ length: 50 }, (_, nth) => bulk(emails(`ten${nth}-`, 10))),
    bulk(emails('thousand', 1_000)),
  ]
  const mixed = asks
    .map((ask) => [random(), ask] as const)
    .toSorted(([one], [other]) => one - other)
    .map(([, ask]) => ask)
  for (const email of emails('mail', 40)) {
    const { path, signup } = await mailLink(journal, 'confirm', { email })
    mixed.splice(Math.floor(random() * 100), 0, confirmation(email, path, signup.id))
  }
  return mixed
}

/** Sends all of them over so many connections, and kills meanwhile. */
async function underKills(
  asks: readonly Ask[],
  nextUrl: () => string,
  kill: () => Promise<void>,
): Promise<ReadonlyMap<string, Told>> {
  const told = new Map<string, Told>()
  const rest = asks.values()
  const visitor = async () => {
    for (const ask of rest) for (const [email, what] of await ask(nextUrl)) told.set(email, what)
  }
  await Promise.all([...Array.from({ length: connections }, visitor), kill()])
  return told
}

/** Each answer is true to its row, and nobody has two. Returns how many have a seat. */
function expectTrue(
  told: ReadonlyMap<string, Told>,
  rows: Readonly<Record<Exclude<Told, 'closed'>, readonly (string | undefined)[]>>,
): number {
  const withRow = (what: Told) =>
    [...told].flatMap(([email, it]) => (it === what ? [email] : [])).toSorted()
  const seated = rows.seat.filter((email) => told.has(email ?? ''))
  expect(seated.toSorted()).toEqual(withRow('seat'))
  expect(rows.overflow.toSorted()).toEqual(withRow('overflow'))
  // Where there is a waiting list, nobody is sent away.
  if (rows.overflow.length > 0) expect(withRow('closed')).toEqual([])
  return seated.length
}

const rounds = Array.from({ length: 6 }, (_, round) => ({
  round,
  isRefused: round % 2 === 1,
  releases: round % 4 >= 2 ? 20 : 0,
}))

test.each(rounds)(
  'on SQLite, 50 of 2,000 get a seat under kills (round $round, refused: $isRefused, releases: $releases)',
  async ({ round, isRefused, releases }) => {
    const random = seededRandom(seed + round)
    await using data = await tempFolder()
    const env = {
      ...{ CLOSES_AFTER: String(seats), RATE_LIMIT_PER_MINUTE: '0', SPAM_FILTER: 'quarantine' },
      ...(!isRefused && { OVERFLOW_TAB: overflowTab }),
    }
    const start = () => startService({ dataDir: data.path, env })
    let service: RunningService = await start()
    await using _ = { [Symbol.asyncDispose]: () => service[Symbol.asyncDispose]() }
    const held: string[] = []
    for (let nth = 0; nth < releases; nth++) {
      const answer = await postSuspect(service.url, { email: `held${nth}@example.com` })
      held.push(((await answer.json()) as SignupAccepted).id)
    }
    const asks = await requests(random, data.path)
    const kill = async () => {
      for (let kills = 0; kills < 2; kills++) {
        await sleep(20 + random() * 150)
        await service.kill()
        service = await start()
      }
    }
    const release = async () => {
      if (held.length === 0) return 0
      return (await runCommand(['quarantine', 'release', ...held], { env, dataDir: data.path }))
        .code
    }
    const [told, released] = await Promise.all([
      underKills(asks, () => service.url, kill),
      release(),
    ])
    expect(released).toBe(0)
    await allDelivered(service)
    const rows = {
      seat: addressesIn(data.path),
      overflow: isRefused ? [] : addressesIn(data.path, `${overflowTab}.csv`),
    }
    const seated = expectTrue(told, rows)
    // What is released takes a seat, and may be one too many.
    expect(seated).toBeLessThanOrEqual(seats)
    expect(seated).toBeGreaterThanOrEqual(seats - releases)
    expect(rows.seat).toHaveLength(seated + releases)
  },
)

test.each([0, 1])(
  'on PostgreSQL with three instances, 50 of 2,000 get a seat under kills (round %i)',
  async (round) => {
    const random = seededRandom(seed - round)
    await using world = await createDatabaseWorld(server)
    const lost: Fault = {
      apply: 'now',
      answer: 'drop',
      on: 'batchUpdate',
      probability: 0.2,
      times: 0,
    }
    world.google.emulator.faults.add(lost)
    const env = {
      ...{ ...world.env, CLOSES_AFTER: String(seats), RATE_LIMIT_PER_MINUTE: '0' },
      ...(round === 0 && { OVERFLOW_TAB: overflowTab }),
    }
    await using instances = await Instances.start(3, env)
    const asks = await requests(random, world.database)
    const kill = async () => {
      for (let kills = 0; kills < 9; kills++) {
        await sleep(random() * 150)
        await instances.kill(Math.floor(random() * 3))
      }
    }
    const told = await underKills(asks, () => instances.nextUrl(), kill)
    world.google.emulator.faults.clear()
    await instances.allDelivered()
    const rowsOf = async (tab: string) => ((await world.google.rows(tab)) ?? []).slice(1)
    const rows = {
      seat: (await rowsOf('Sheet1')).map(([email]) => email),
      overflow: (await rowsOf(overflowTab)).map(([email]) => email),
    }
    expect(expectTrue(told, rows)).toBe(seats)
    expect(rows.seat).toHaveLength(seats)
  },
)
