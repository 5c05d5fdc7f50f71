import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'

import { percentile } from '../../bench/percentile.ts'
import { makeSignup } from '../../harness/make-signup.ts'
import { openSqliteJournal } from '../../harness/sqlite-journal.ts'
import { tempFolder } from '../../harness/temp-folder.ts'
import type { Confirmation } from '../../src/journal/contracts/confirmation.ts'
import type { Journal } from '../../src/journal/contracts/journal.ts'
import { startRetention } from '../../src/operations/retention.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { confirming } from '../journal/contracts/outbox-contract.ts'

const expired = 1_000_000
/** The share of signups that wait for no longer than a moment, and what no slice takes on a busy machine. */
const [share, momentMs, stallMs] = [0.99, 250, 1_000]

test('a million pending signups that expire are swept in slices, and signups go on meanwhile', async () => {
  await using folder = await tempFolder()
  const file = join(folder.path, 'journal.db')
  await using journal = openSqliteJournal(file, confirming)
  await askFor(journal, 'first')
  fill(file)
  expect((await journal.reader.beside()).pending).toBe(expired + 1)
  const calm = await askUntil(journal, 'calm', sleep(5_000))

  const slices: number[] = []
  const confirmation: Confirmation = {
    ...journal.confirmation,
    sweep: async (now) => {
      const begun = performance.now()
      const isMore = await journal.confirmation.sweep(now)
      slices.push(performance.now() - begun)
      return isMore
    },
  }
  const log = { warn: (details: object) => expect.fail(JSON.stringify(details)) }
  const begun = performance.now()
  await using _ = startRetention({ ...journal, confirmation }, 0, systemClock, log)
  const leftOver = async () => (await journal.reader.beside()).pending
  let busy: readonly number[] = []
  while ((await leftOver()) > 1 + calm.length + busy.length)
    busy = [...busy, ...(await askUntil(journal, `busy.${busy.length}`, sleep(1_000)))]
  const seconds = (performance.now() - begun) / 1000

  const told = (times: readonly number[]) => {
    const figures = [percentile(times, 0.5), percentile(times, share), Math.max(...times)]
    return figures.map((ms) => `${ms.toFixed(1)} ms`).join(', ')
  }
  console.log(
    `${expired} expired signups were swept in ${seconds.toFixed(0)} s.\n` +
      `${slices.length} slices (median, p99, longest): ${told(slices)}\n` +
      `${calm.length} signups before: ${told(calm)}\n${busy.length} signups meanwhile: ${told(busy)}`,
  )
  expect(slices.length).toBeGreaterThan(expired / 1_000)
  expect(Math.max(...slices)).toBeLessThan(stallMs)
  expect(percentile(busy, share)).toBeLessThan(momentMs)
  using database = new DatabaseSync(file, { readOnly: true })
  const kept = database.prepare(`SELECT count(*) AS count FROM pending WHERE email LIKE 'late%'`)
  expect(kept.get()).toEqual({ count: 0 })
})

async function askFor({ intake }: Journal, name: string): Promise<number> {
  const begun = performance.now()
  const signup = makeSignup({ email: `${name}@example.com`, receivedAt: Date.now() })
  await intake.ask([signup], { addressing: { share: 'share', language: 'en' } })
  return performance.now() - begun
}

/** Lets people sign up until then, one after the other. Resolves with how long each has waited. */
async function askUntil(journal: Journal, name: string, then: Promise<unknown>): Promise<number[]> {
  const times: number[] = []
  const over = new AbortController()
  void then.then(() => {
    over.abort()
  })
  while (!over.signal.aborted) {
    times.push(await askFor(journal, `${name}.${times.length}`))
    await sleep(5)
  }
  return times
}

/** Adds copies of the only pending signup, of other people, whose time is over. */
function fill(file: string): void {
  using database = new DatabaseSync(file, { timeout: 60_000 })
  const columns = `site, state, signals, mail_wanted, share, language, sheet_tab, received_at, source, name,
    tags, metadata, fields`
  database.exec(`
    WITH RECURSIVE one(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM one WHERE n < ${expired})
    INSERT INTO pending (number, id, person, expires_at, kept_until, email, ${columns})
    SELECT number + n, randomblob(16), substr(hex(randomblob(11)), 1, 22), n, n,
      'late.' || n || '@example.com', ${columns.replace('mail_wanted', '0')}
    FROM one, (SELECT * FROM pending LIMIT 1) AS first;
    UPDATE hour_pending SET asked = asked + ${expired};`)
}
