import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'

import { seededRandom } from '../../emulators/google-sheets/faults.ts'
import { allDelivered } from '../../harness/delivery-state.ts'
import { endWithUs } from '../../harness/end-with-us.ts'
import { createGoogleWorld, type GoogleWorld } from '../../harness/google-world.ts'
import { postSignup } from '../../harness/post-signup.ts'
import { startService } from '../../harness/start-service.ts'
import { tempFolder } from '../../harness/temp-folder.ts'
import { openSqliteJournal } from '../../harness/sqlite-journal.ts'
import type { Random } from '../../src/platform/clock.ts'
import type { SignupRecord } from '../../src/journal/contracts/reader.ts'
import { drawTerms, type SoakAppend, type SoakCall, soakTabsMax } from './soak-terms.ts'

const minute = 60_000
/** How often each process is killed at least. The soak lasts longer when its starts are slow. */
const killsMin = 4

interface Run {
  readonly dataDir: string
  readonly env: Readonly<Record<string, string>>
  readonly random: Random
  /** When it ends, by `performance.now`. */
  readonly until: number
  /** Appends of both processes that were answered. */
  readonly answered: SoakAppend[]
  /** Calls of the second process. */
  readonly calls: SoakCall[]
  readonly account: string
  readonly perMinute: number
}

/**
 * Runs a service and a second process on one journal under load, and kills each again and again. Then
 * expects that nothing is lost, nothing is there twice, and every limit holds for both together.
 *
 * @param ms how long the load lasts
 * @param perMinute the quota of calls to the spreadsheet
 */
export async function expectPromisesKept(
  ms: number,
  seed: number,
  perMinute: number,
): Promise<void> {
  console.log(`The seed of the soak is ${seed}. SEED=${seed} kills at the same moments again.`)
  await using folder = await tempFolder()
  await using world = await createGoogleWorld({ seed })
  const env = {
    ...world.env,
    DEFAULT_SHEET_TAB: 'Sheet1',
    MAX_SHEET_TABS: String(soakTabsMax),
    RATE_LIMIT_PER_MINUTE: '0',
    SHEETS_REQUESTS_PER_MINUTE: String(perMinute),
  }
  const until = performance.now() + ms
  const random = seededRandom(seed)
  const { email: account } = world
  const told = { answered: [], calls: [] }
  const run: Run = { dataDir: folder.path, env, random, until, account, perMinute, ...told }
  // The service makes the journal that the second process opens.
  await (await startService(run)).stop()
  const kills = await Promise.all([runService(run), runSecond(run)])
  {
    await using service = await startService(run)
    await allDelivered(service)
  }
  const records = await readAll(join(folder.path, 'journal.db'))
  const answered = run.answered.filter(({ isTaken }) => isTaken)
  console.log(
    `soak: ${kills.join(' and ')} kills, ${answered.length} answered, ${records.length} kept`,
  )
  for (const who of ['first', 'second']) {
    expect(answered.filter(({ email }) => email.startsWith(who)).length).toBeGreaterThan(50)
  }
  expectNothingLost(answered, records)
  expectLimits(run.answered, records)
  await expectRows(world, records)
  expectQuota(world, run)
}

/** Lets visitors sign up at a service that is killed every few seconds. Returns the number of kills. */
async function runService(run: Run): Promise<number> {
  let kills = 0
  for (; performance.now() < run.until || kills < killsMin; kills++) {
    await using service = await startService(run)
    const visitors = [0, 1, 2, 3].map((number) => visit(run, service.url, `${kills}.${number}`))
    await sleep(1500 + run.random() * 2500)
    await service.kill()
    await Promise.all(visitors)
  }
  return kills
}

/** Signs up until the service is gone. */
async function visit({ random, answered }: Run, url: string, name: string): Promise<void> {
  for (let count = 1; ; count++) {
    const email = `first${name}.${count}@example.com`
    const { tab, key } = drawTerms(random)
    const headers = key === undefined ? {} : { 'idempotency-key': key }
    const answer = await postSignup(url, { email, sheetTab: tab }, headers).catch(() => undefined)
    if (!answer) return
    if (answer.status >= 500) throw new Error(`A signup was answered ${answer.status}.`)
    answered.push({ email, isTaken: answer.status === 202, key, token: undefined })
    await sleep(random() * 10)
  }
}

/** Runs the second process and kills it at moments of its own. Returns the number of kills. */
async function runSecond(run: Run): Promise<number> {
  let kills = 0
  for (; performance.now() < run.until || kills < killsMin; kills++) {
    const program = join(import.meta.dirname, 'soak-child.ts')
    const seed = String(Math.floor(run.random() * 1e9))
    const of = [seed, String(kills), run.account, String(run.perMinute)]
    const child = endWithUs(fork(program, [join(run.dataDir, 'journal.db'), ...of]))
    child.on('message', (message: SoakAppend | SoakCall) => {
      if ('calledAt' in message) run.calls.push(message)
      else run.answered.push(message)
    })
    // The process is still starting until it sends its first message.
    await Promise.race([once(child, 'message'), once(child, 'close')])
    await sleep(500 + run.random() * 3000)
    await killed(child)
  }
  return kills
}

async function killed(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) throw new Error(`The second process ended with ${child.exitCode}.`)
  const gone = once(child, 'close')
  child.kill('SIGKILL')
  await gone
}

async function readAll(file: string): Promise<readonly SignupRecord[]> {
  await using journal = openSqliteJournal(file)
  expect(await journal.reader.backlog()).toBe(0)
  const records: SignupRecord[] = []
  for (;;) {
    const page = await journal.reader.page(records.at(-1)?.position ?? 0, 1000)
    if (page.length === 0) return records
    records.push(...page)
  }
}

function expectNothingLost(
  answered: readonly SoakAppend[],
  records: readonly SignupRecord[],
): void {
  const emails = records.map(({ signup }) => signup.email)
  const kept = new Set(emails)
  expect(kept.size, 'no address came twice').toBe(emails.length)
  expect(answered.filter(({ email }) => !kept.has(email))).toEqual([])
}

/** The limits of tabs, keys and tokens hold for both processes together, and across kills. */
function expectLimits(answered: readonly SoakAppend[], records: readonly SignupRecord[]): void {
  const tabs = new Set(records.map(({ signup }) => signup.sheetTab))
  expect(tabs).toContain('Sheet1')
  expect(tabs.size - 1).toBe(soakTabsMax)
  expect(answered.some(({ isTaken }) => !isTaken)).toBe(true)
  const taken = answered.filter(({ isTaken }) => isTaken)
  for (const term of ['key', 'token'] as const) {
    const used = taken.flatMap((append) => append[term] ?? [])
    expect(used.length, term).toBeGreaterThan(10)
    expect(new Set(used).size, `a ${term} was taken twice`).toBe(used.length)
  }
}

/** Each tab of the spreadsheet holds its signups once, in the order of the journal. */
async function expectRows(world: GoogleWorld, records: readonly SignupRecord[]): Promise<void> {
  for (const [tab, kept] of Map.groupBy(records, ({ signup }) => signup.sheetTab)) {
    const [, ...rows] = (await world.rows(tab)) ?? []
    expect(
      rows.map(([email]) => email),
      tab,
    ).toEqual(kept.map(({ signup }) => signup.email))
  }
}

/** How much later than it was reserved a call may arrive on a busy machine. */
const lateMs = 5_000

/** No window of a minute holds more calls of both processes than the quota allows. */
function expectQuota({ emulator }: GoogleWorld, { calls, perMinute }: Run): void {
  const served = emulator.log.calls().filter(({ kind }) => kind !== 'token')
  const times = [
    ...served.map(({ time }) => Date.parse(time)),
    ...calls.map(({ calledAt }) => calledAt),
  ].sort((a, b) => a - b)
  expect(Math.min(served.length, calls.length), 'both made calls').toBeGreaterThan(3)
  const closest = times.map((at, index) => (times[index + perMinute] ?? Infinity) - at)
  expect(Math.min(...closest)).toBeGreaterThanOrEqual(minute - lateMs)
}
