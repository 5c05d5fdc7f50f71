import { constants, mkdtempSync, rmSync } from 'node:fs'
import { cp, mkdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSqliteJournal } from '../harness/sqlite-journal.ts'
import { freezeNext } from '../harness/freeze-next.ts'
import { makeSignup } from '../harness/make-signup.ts'

const appendedAtOnce = 5_000

type State = 'waiting' | 'written'

const folder = mkdtempSync(join(tmpdir(), 'rollcall-bench-'))
process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
const filled = new Map<string, Promise<string>>()

/**
 * Makes a data folder whose journal has `count` signups. All of them wait for delivery, or all of them
 * are written. The first call with a count and a state fills a journal, and later ones copy it.
 */
export async function fillJournal(dataDir: string, count: number, state: State): Promise<string> {
  const name = `${state}-${count}`
  const source = filled.get(name) ?? fill(join(folder, name), count, state)
  filled.set(name, source)
  await cp(await source, dataDir, { recursive: true, mode: constants.COPYFILE_FICLONE })
  return dataDir
}

async function fill(dataDir: string, count: number, state: State): Promise<string> {
  await mkdir(dataDir, { recursive: true })
  await using journal = openSqliteJournal(join(dataDir, 'journal.db'))
  const limits = { rowsMax: appendedAtOnce, bytesMax: Number.MAX_SAFE_INTEGER }
  for (let made = 0; made < count; made += appendedAtOnce) {
    const length = Math.min(appendedAtOnce, count - made)
    await journal.intake.append(Array.from({ length }, (_, index) => usualSignup(made + index)))
    if (state === 'waiting') continue
    const batch = await freezeNext(journal.delivery, limits)
    if (batch) await journal.delivery.settle(batch.number, Date.now())
  }
  if (state === 'written') {
    const ended = await journal.delivery.endedMarkers()
    await journal.delivery.forgetMarkers(ended.map(({ id }) => id))
  }
  const backlog = await journal.reader.backlog()
  if (backlog !== (state === 'waiting' ? count : 0)) throw new Error(`${backlog} signups wait.`)
  return dataDir
}

/** The signup of `usualBody`, with its own address. */
export function usualSignup(number: number) {
  return makeSignup({
    receivedAt: Date.now(),
    email: `person${number}@example.com`,
    source: 'landing-page',
    name: 'Ada Lovelace',
    tags: ['launch', 'beta'],
    metadata: '{"plan":"free","utm_source":"newsletter"}',
  })
}
