import { cp, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'

import { seededRandom } from '../../emulators/google-sheets/faults.ts'
import { type AcceptedSignup, readJournal, signUpUntilGone } from './crash-load.ts'
import { allDelivered } from '../../harness/delivery-state.ts'
import { createGoogleWorld } from '../../harness/google-world.ts'
import { postSignups } from '../../harness/post-signup.ts'
import { addressesIn } from '../../harness/read-workbook.ts'
import { ServiceEnded, startService } from '../../harness/start-service.ts'
import { type TempFolder, tempFolder } from '../../harness/temp-folder.ts'

const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)
const random = seededRandom(seed)
const tabs = ['Sheet1', 'News', 'Events']
const pageBytes = 4096

/** Damage to a file of the journal, between a kill and the next start. */
interface Damage {
  readonly what: string
  readonly file: string
  readonly times: number
  readonly inflict: (path: string) => Promise<void>
}

const cut = async (path: string) => {
  const { length } = await readFile(path)
  await truncate(path, Math.floor(random() * length))
}

const overwritePage = (byte: number) => async (path: string) => {
  const content = await readFile(path)
  const start = Math.floor(random() * (content.length / pageBytes)) * pageBytes
  await writeFile(path, content.fill(byte, start, start + pageBytes))
}

const remove = (path: string) => rm(path)

const damages: readonly Damage[] = [
  { what: 'cut', file: 'journal.db', times: 6, inflict: cut },
  { what: 'cut', file: 'journal.db-wal', times: 6, inflict: cut },
  { what: 'with a page of zeros', file: 'journal.db', times: 5, inflict: overwritePage(0) },
  { what: 'with a page of rubbish', file: 'journal.db', times: 5, inflict: overwritePage(0xa7) },
  {
    what: 'with a page of rubbish',
    file: 'journal.db-wal',
    times: 4,
    inflict: overwritePage(0xa7),
  },
  { what: 'that is missing', file: 'journal.db-wal', times: 1, inflict: remove },
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
    const count = 300
    await postSignups(
      first.url,
      Array.from({ length: count }, (_, index) => `early${index}@example.com`),
    )
    await first.stop()
    await using second = await startService(options)
    const load = signUpUntilGone(second.url, 'late', { tabs, visitorsAtOnce: 2, pauseMs: 0 })
    await new Promise((resolve) => setTimeout(resolve, 700))
    await second.kill()
    const accepted = await load
    await using copy = await copyOf(template.path)
    journal = readJournal(copy.path)
    expect(journal.length).toBeGreaterThanOrEqual(count + accepted.length)
    return () => template[Symbol.asyncDispose]()
  })

  test.each(damages)(
    'a start with a damaged journal ends with a message, or loses the last signups alone: $file $what',
    async ({ file, times, inflict }) => {
      const ends: string[] = []
      for (let time = 0; time < times; time += 1) {
        await using folder = await copyOf(template.path)
        await inflict(join(folder.path, file))
        ends.push(await startAndDeliver(folder.path, journal))
      }
      console.log(`${file}: ${ends.join(', ')}`)
      expect(ends).toHaveLength(times)
    },
  )

  test('a start with a file that is not a journal ends with a message', async () => {
    await using folder = await copyOf(template.path)
    await writeFile(join(folder.path, 'journal.db'), 'Dear diary,\n'.repeat(1000))
    await rm(join(folder.path, 'journal.db-wal'))
    expect(await startAndDeliver(folder.path, [])).toBe('refused')
    expect(await readFile(join(folder.path, 'journal.db'), 'utf8')).toMatch(/^Dear diary/)
  })
})

/** Starts the service and expects a message, or the signups of the journal in order, perhaps without the last ones. */
async function startAndDeliver(
  dataDir: string,
  journal: readonly AcceptedSignup[],
): Promise<string> {
  const service = await startService({ dataDir }).catch((error: unknown) => {
    if (error instanceof ServiceEnded) return error
    throw error
  })
  if (service instanceof ServiceEnded) {
    expect(service.code).toBe(1)
    expect(service.output).toMatch(
      /^The journal .*journal\.db cannot be opened: .*(damaged|malformed|not a database).*Restore journal/,
    )
    return 'refused'
  }
  await allDelivered(service)
  await service.stop()
  const kept = readJournal(dataDir)
  expect(kept).toEqual(journal.slice(0, kept.length))
  for (const tab of tabs) {
    const emails = kept.filter((signup) => signup.tab === tab).map(({ email }) => email)
    expect(addressesIn(dataDir, `${tab}.csv`)).toEqual(emails)
  }
  return `${kept.length} of ${journal.length} kept`
}

/** Copies the folder without the shared memory, as a backup does. */
async function copyOf(path: string): Promise<TempFolder> {
  const copy = await tempFolder()
  const isKept = (source: string) => !source.endsWith('-shm')
  await cp(path, copy.path, { recursive: true, filter: isKept })
  return copy
}
