import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'

import { createFuzzClient, runAtOnce, sendRawRequest } from './fuzz-client.ts'
import { Ledger } from './ledger.ts'
import {
  apiKey,
  type Build,
  type FuzzRequest,
  marker,
  type RawRequest,
  rawRequests,
  requests,
} from './fuzz-requests.ts'
import { measuredProgram, memoryInUse } from '../../harness/measure.ts'
import { readTab } from '../../harness/read-workbook.ts'
import { type RunningService, startService } from '../../harness/start-service.ts'
import { tempFolder } from '../../harness/temp-folder.ts'

const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)
const requestsMin = 20_000
/** A tenth of the requests of a round is sent over raw sockets. */
const rounds = 20
const inRound = requestsMin / rounds
const connections = 48
/** How much the memory may grow over ten thousand requests. A body kept from each would be far more. */
const growthBytesMax = 16 * 1024 * 1024

/** Kinds of which some requests are accepted. */
const takenKinds = [
  'valid JSON',
  'hostile JSON',
  'mutated JSON',
  'form',
  'form bomb',
  'multipart',
].concat(['bulk', 'raw'])
const allKinds = [...takenKinds, 'wrong fields', 'wrong type', 'trash', 'anywhere']

const settings = {
  LOG_LEVEL: 'trace',
  RATE_LIMIT_PER_MINUTE: '0',
  MAX_SHEET_TABS: '12',
  API_KEYS: apiKey,
  // The process ends when its heap grows larger.
  NODE_OPTIONS: '--max-old-space-size=192',
}

interface Tally {
  readonly ledger: Ledger
  readonly statuses: Map<number, number>
  readonly kinds: Map<string, number>
  /** Answers that should never come. */
  readonly wrong: string[]
  sent: number
  broken: number
}

type Client = ReturnType<typeof createFuzzClient>

test('twenty thousand requests, valid to hostile, cause no 5xx, no crash and no growth, and each 2xx is one row', async () => {
  console.log(`The seed of the fuzzer is ${seed}. SEED=${seed} repeats its requests.`)
  await using folder = await tempFolder()
  await using service = await startService({
    program: measuredProgram,
    env: settings,
    dataDir: folder.path,
  })
  const tally = newTally()
  const memory: number[] = []
  const startedAt = performance.now()
  {
    using client = createFuzzClient(service.url, connections)
    const nextNumber = counter()
    for (let round = 0; round < rounds; round++) {
      await runRound({ round, service, client, tally, nextNumber })
      memory.push(await memoryInUse(service))
    }
    await expect.poll(() => backlogOf(service), { interval: 100 }).toBe(0)
  }
  const seconds = (performance.now() - startedAt) / 1000
  expect(await service.stop()).toBe(0)
  const tabs = readdirSync(join(folder.path, 'sheets')).filter((name) => name.endsWith('.csv'))
  const rows = tabs.map((file) => readTab(folder.path, file).slice(1))

  report(tally, { seconds, tabs: tabs.length, memory })
  expect(tally.sent).toBeGreaterThanOrEqual(requestsMin)
  expect(tally.wrong).toEqual([])
  expect(tally.ledger.differences(rows)).toEqual([])
  expect(tally.ledger.size).toBeGreaterThan(requestsMin / 5)
  for (const kind of takenKinds) expect(tally.kinds.get(`${kind} 2xx`), kind).toBeGreaterThan(50)
  for (const kind of allKinds) expect(tally.kinds.get(`${kind} 4xx`), kind).toBeGreaterThan(50)
  expect(tally.broken).toBeLessThan(requestsMin / 50)
  const [early, late] = [memory.slice(5, 8), memory.slice(-3)].map((some) => Math.min(...some))
  expect((late ?? Infinity) - (early ?? 0)).toBeLessThan(growthBytesMax)
  expect(service.output().toLowerCase()).not.toContain(marker)
})

test('the ledger finds a missing row, a row that is there twice, and two rows in the wrong order', () => {
  const ledger = new Ledger()
  ledger.accept('a', 1, '')
  ledger.accept('b', 2, 'a')
  ledger.lose([3])
  ledger.acceptUnnamed([5])
  const row = (number: number) => [`${marker}-${number}-@people.example.com`]
  expect(ledger.differences([[row(1), row(2)], [row(5)]])).toEqual([])
  expect(ledger.differences([[row(1), row(2), row(3), row(5)]])).toEqual([])
  expect(ledger.differences([[row(1)], [row(5)]])).toHaveLength(1)
  expect(ledger.differences([[row(1), row(2)]])).toHaveLength(1)
  expect(ledger.differences([[row(1), row(2), row(2)], [row(5)]])).toHaveLength(1)
  expect(ledger.differences([[row(2), row(1)], [row(5)]])).toHaveLength(1)
  expect(ledger.differences([[row(1), row(2), row(3), row(3)], [row(5)]])).toHaveLength(1)
  expect(ledger.differences([[row(1), row(2), row(4)], [row(5)]])).toHaveLength(1)
})

interface Round {
  readonly round: number
  readonly service: RunningService
  readonly client: Client
  readonly tally: Tally
  readonly nextNumber: () => number
}

async function runRound({ round, service, client, tally, nextNumber }: Round): Promise<void> {
  const roundSeed = seed + round
  const raw = Math.floor(inRound / 10)
  const polite = fc.sample(requests, { numRuns: inRound - raw, seed: roundSeed })
  const rude = fc.sample(rawRequests, { numRuns: raw, seed: roundSeed })
  await Promise.all([
    runAtOnce(polite, connections, async (build) => sendPolite(build(nextNumber), client, tally)),
    runAtOnce(rude, 16, async (build: Build<RawRequest>) =>
      sendRude(build(nextNumber), service.url, tally),
    ),
  ])
}

async function sendPolite(request: FuzzRequest, client: Client, tally: Tally): Promise<void> {
  const times = request.isTwin ? 2 : 1
  await Promise.all(Array.from({ length: times }, () => sendOnce(request, client, tally)))
}

async function sendOnce(request: FuzzRequest, client: Client, tally: Tally): Promise<void> {
  const { ledger, kinds } = tally
  const { kind, numbers } = request
  const after = ledger.latest
  tally.sent++
  const answer = await client.send(request).catch(() => undefined)
  if (!answer) {
    tally.broken++
    ledger.lose(numbers)
    return
  }
  const { status, headers, body } = answer
  count(tally.statuses, status)
  count(kinds, `${kind} ${Math.floor(status / 100)}xx`)
  if (isWrong(status)) tally.wrong.push(`${status} to ${kind}: ${body}`)
  if (status === 303) ledger.acceptUnnamed(numbers)
  if (status < 200 || status > 299 || request.method !== 'POST') return
  const isReplay = headers.has('idempotency-replayed')
  const given: unknown = JSON.parse(body)
  for (const { id, index } of receiptsIn(given)) {
    ledger.accept(id, numbers[index] ?? -1, after, isReplay)
  }
}

async function sendRude(request: RawRequest, url: string, tally: Tally): Promise<void> {
  const after = tally.ledger.latest
  tally.sent++
  const { text, isAll } = await sendRawRequest(url, request)
  if (!isAll || text === '') tally.ledger.lose([request.number])
  for (const [, digits] of text.matchAll(/HTTP\/1\.1 (\d{3}) /g)) {
    const status = Number(digits)
    count(tally.statuses, status)
    count(tally.kinds, `raw ${Math.floor(status / 100)}xx`)
    if (isWrong(status)) tally.wrong.push(`${status} to raw: ${text}`)
  }
  for (const [, id = ''] of text.matchAll(/"id":"([0-9a-f-]{36})"/g)) {
    tally.ledger.accept(id, request.number, after)
  }
}

function isWrong(status: number): boolean {
  return status >= 500 && status !== 503
}

interface Receipt {
  readonly id: string
  /** The place of the signup in the request. */
  readonly index: number
}

function receiptsIn(answer: unknown): Receipt[] {
  if (typeof answer !== 'object' || answer === null) return []
  const all: readonly unknown[] =
    'results' in answer && Array.isArray(answer.results) ? answer.results : [answer]
  return all.flatMap((one, index) =>
    typeof one === 'object' && one !== null && 'id' in one ? [{ id: String(one.id), index }] : [],
  )
}

function newTally(): Tally {
  return {
    ledger: new Ledger(),
    statuses: new Map(),
    kinds: new Map(),
    wrong: [],
    sent: 0,
    broken: 0,
  }
}

function counter(): () => number {
  let last = 0
  return () => ++last
}

function count<T>(counts: Map<T, number>, key: T): void {
  counts.set(key, (counts.get(key) ?? 0) + 1)
}

async function backlogOf({ url }: RunningService): Promise<number> {
  const answer = (await (await fetch(`${url}/api/ready`)).json()) as {
    delivery: { backlog: number }
  }
  return answer.delivery.backlog
}

interface Figures {
  readonly seconds: number
  readonly tabs: number
  readonly memory: readonly number[]
}

function report(tally: Tally, { seconds, tabs, memory }: Figures): void {
  const megabytes = memory.map((bytes) => Math.round(bytes / 1024 / 1024))
  console.log(
    [
      `${tally.sent} requests in ${seconds.toFixed(1)} s, ${tally.broken} connections broken`,
      `${tally.ledger.size} signups accepted, in ${tabs} tabs`,
      `statuses ${sorted(tally.statuses)}`,
      `kinds ${sorted(tally.kinds)}`,
      `memory in MiB ${megabytes.join(' ')}`,
    ].join('\n'),
  )
}

function sorted(counts: ReadonlyMap<unknown, number>): string {
  const entries = [...counts].map(([key, count]) => `${String(key)}: ${count}`)
  return entries.sort().join(', ')
}
