// @module-tag slow
import { cp, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'

import { seededRandom } from '../../emulators/google-sheets/faults.ts'
import { type AcceptedSignup, readJournal, signUpUntilGone } from './crash-load.ts'
import { allDelivered, readiness, waitUntil } from '../../harness/delivery-state.ts'
import { createGoogleWorld } from '../../harness/google-world.ts'
import { postSignups } from '../../harness/post-signup.ts'
import { addressesIn } from '../../harness/read-workbook.ts'
import { ServiceEnded, startService } from '../../harness/start-service.ts'
import { type TempFolder, tempFolder } from '../../harness/temp-folder.ts'

const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)
const random = seededRandom(seed)
const tabs = ['Sheet1', 'News', 'Events']
const pageBytes = 4096
/** Signups that are in the database itself, as the service was stopped after them. */
const early = 300

/** Damage to a file of the journal, between a kill and the next start, and what becomes of the signups. */
interface Damage {
  readonly what: string
  readonly file: string
  readonly times: number
  readonly end: 'the start is refused' | 'none is lost' | 'the last ones are lost'
  readonly inflict: (path: string) => Promise<void>
}

const cut = async (path: string) => {
  const { length } = await readFile(path)
  await truncate(path, Math.floor(random() * length))
}

const overwritePage = (byte: number) => async (path: string) => {
  const { length } = await readFile(path)
  await overwrite(path, Math.floor(random() * (length / pageBytes)), byte)
}

/** Overwrites one of the pages that the write-ahead log has again, or one of those that it has not. */
const overwritePageThat = (isInLog: boolean, byte: number) => async (path: string) => {
  const { length } = await readFile(path)
  const inLog = await pagesInLog(`${path}-wal`)
  const pages = Array.from({ length: length / pageBytes }, (_, index) => index)
  const chosen = pages.filter((page) => inLog.has(page) === isInLog)
  const page = chosen[Math.floor(random() * chosen.length)]
  if (page === undefined) throw new Error('The journal has no such page.')
  await overwrite(path, page, byte)
}

async function overwrite(path: string, page: number, byte: number): Promise<void> {
  const content = await readFile(path)
  // A log ends with a part of a page.
  content.subarray(page * pageBytes, (page + 1) * pageBytes).fill(byte)
  await writeFile(path, content)
}

/** The pages of the database, from 0, that SQLite's write-ahead log has. */
async function pagesInLog(path: string): Promise<ReadonlySet<number>> {
  const log = await readFile(path)
  const pages = new Set<number>()
  // A header of 32 bytes, then frames: 24 bytes that begin with the page's number from 1, then the page.
  for (let at = 32; at < log.length; at += 24 + pageBytes) pages.add(log.readUInt32BE(at) - 1)
  return pages
}

/** Cuts the database somewhere before the last page that the log has not. */
const cutBelowLog = async (path: string) => {
  const { length } = await readFile(path)
  const inLog = await pagesInLog(`${path}-wal`)
  let last = length / pageBytes - 1
  while (inLog.has(last)) last -= 1
  await truncate(path, Math.floor(random() * last * pageBytes))
}

const empty = (path: string) => truncate(path, 0)
const remove = (path: string) => rm(path)

const refused = { file: 'journal.db', times: 4, end: 'the start is refused' } as const
const whole = { file: 'journal.db', times: 2, end: 'none is lost' } as const
const shorter = { file: 'journal.db-wal', times: 4, end: 'the last ones are lost' } as const

const damages: readonly Damage[] = [
  { ...refused, what: 'that is cut', inflict: cutBelowLog },
  { ...refused, what: 'of no bytes', times: 1, inflict: empty },
  { ...refused, what: 'that is missing', times: 1, inflict: remove },
  { ...refused, what: 'with a page of zeros', inflict: overwritePageThat(false, 0) },
  { ...refused, what: 'with a page of rubbish', inflict: overwritePageThat(false, 0xa7) },
  { ...whole, what: 'with an old page of zeros', inflict: overwritePageThat(true, 0) },
  { ...whole, what: 'with an old page of rubbish', inflict: overwritePageThat(true, 0xa7) },
  { ...shorter, what: 'that is cut', times: 6, inflict: cut },
  { ...shorter, what: 'with a page of rubbish', inflict: overwritePage(0xa7) },
  { ...shorter, what: 'that is missing', times: 1, inflict: remove },
]

describe('a damaged journal', () => {
  let template: TempFolder
  let journal: readonly AcceptedSignup[]

  // A service with many signups, none of them delivered, is killed in the middle of its work.
  beforeAll(async () => {
    console.log(`The seed of the damage is ${seed}. SEED=${seed} repeats it.`)
    template = await tempFolder()
    await using world = await createGoogleWorld()
    world.emulator.faults.add({ on: 'any', times: 0, answer: 'unavailable' })
    const options = { dataDir: template.path, env: world.env }
    await using first = await startService(options)
    await postSignups(
      first.url,
      Array.from({ length: early }, (_, index) => `early${index}@example.com`),
    )
    await first.stop()
    await using second = await startService(options)
    const load = signUpUntilGone(second.url, 'late', { tabs, visitorsAtOnce: 2, pauseMs: 0 })
    const hasTaken = async () => (await readiness(second)).body.delivery.backlog >= early + 60
    await waitUntil(hasTaken, () => 'too few signups were taken')
    await second.kill()
    const accepted = await load
    await using copy = await copyOf(template.path)
    journal = readJournal(copy.path)
    expect(journal.length).toBeGreaterThanOrEqual(early + accepted.length)
    return () => template[Symbol.asyncDispose]()
  })

  test.each(damages)(
    'when the journal has a $file $what, $end',
    async ({ file, times, end, inflict }) => {
      for (let time = 0; time < times; time += 1) {
        await using folder = await copyOf(template.path)
        await inflict(join(folder.path, file))
        const kept = await startAndDeliver(folder.path)
        expect(kept).toEqual(kept && journal.slice(0, kept.length))
        if (end === 'the start is refused') expect(kept).toBeUndefined()
        if (end === 'none is lost') expect(kept).toHaveLength(journal.length)
        if (end !== 'the last ones are lost') continue
        expect(kept?.length).toBeGreaterThanOrEqual(early)
        expect(kept?.length).toBeLessThan(journal.length)
      }
    },
  )

  test('a start with a file that is not a journal ends with a message', async () => {
    await using folder = await copyOf(template.path)
    await writeFile(join(folder.path, 'journal.db'), 'Dear diary,\n'.repeat(1000))
    await rm(join(folder.path, 'journal.db-wal'))
    expect(await startAndDeliver(folder.path)).toBeUndefined()
    expect(await readFile(join(folder.path, 'journal.db'), 'utf8')).toMatch(/^Dear diary/)
  })
})

/**
 * Starts the service and lets it deliver everything. Resolves with the signups of its journal; undefined
 * when the start ended with a message about the journal.
 */
async function startAndDeliver(dataDir: string): Promise<readonly AcceptedSignup[] | undefined> {
  try {
    await using service = await startService({ dataDir })
    await allDelivered(service)
  } catch (error) {
    if (!(error instanceof ServiceEnded)) throw error
    expect(error.code).toBe(1)
    expect(error.output).toMatch(
      /^The journal .*journal\.db cannot be opened: .*(damaged|malformed|not a database|only its -wal file).*Restore journal/,
    )
    return undefined
  }
  const kept = readJournal(dataDir)
  for (const tab of tabs) {
    const emails = kept.filter((signup) => signup.tab === tab).map(({ email }) => email)
    expect(addressesIn(dataDir, `${tab}.csv`)).toEqual(emails)
  }
  return kept
}

/** Copies the folder without the shared memory, as a backup does. */
async function copyOf(path: string): Promise<TempFolder> {
  const copy = await tempFolder()
  const isKept = (source: string) => !source.endsWith('-shm')
  await cp(path, copy.path, { recursive: true, filter: isKept })
  return copy
}
