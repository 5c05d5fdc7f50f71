import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { openSqliteSites } from '../../src/journal/sqlite/sqlite-journal.ts'
import type { Journal, OpenJournal } from '../../src/journal/contracts/journal.ts'
import { day, systemClock } from '../../src/platform/clock.ts'
import { syncFile } from '../../src/platform/node/durable-file.ts'
import { signupsAtOnce } from '../../src/cli/import/importer.ts'
import { countAll } from '../../src/operations/counting.ts'
import { fillJournal, usualSignup } from '../journals.ts'
import { atMost, type Scenario, type Sizes } from '../scenario.ts'
import { World } from '../world.ts'

/** How often a kind of work is done at most, in its usual slices. */
export const slicesMax = 200
const now = Date.now()

export interface Opened {
  readonly all: OpenJournal
  readonly journal: Journal
  readonly sizes: Sizes
}

/** Works a slice, and says whether there is more. */
type Slice = () => Promise<unknown>

/** Each kind of work behind the scenes, by the end of its name. */
export const kinds: Readonly<Record<string, (opened: Opened) => Slice>> = {
  sweep:
    ({ journal }) =>
    () =>
      journal.confirmation.sweep(now),
  retention:
    ({ journal }) =>
    () =>
      journal.retention.expire(now + 2 * day),
  report:
    ({ all, journal }) =>
    async () => {
      await countAll(all, systemClock, AbortSignal.timeout(1_000))
      await journal.reader.shares()
      await journal.reader.figures()
      await journal.reader.beside()
      await journal.outbox.figures(['confirm', 'welcome', 'report'])
    },
  claim:
    ({ journal }) =>
    async () => {
      const order = { kinds: ['confirm', 'welcome', 'report'], by: 'bench', now, max: 5 } as const
      return (await journal.outbox.claim(order)).messages.length > 0
    },
  person: ({ journal }) => {
    let after: number | undefined = 0
    return async () => {
      const slice = await journal.reader.positionsOf('person77@example.com', after ?? 0)
      await journal.reader.at(slice.positions)
      after = slice.next
      return after !== undefined
    }
  },
  removal: ({ journal, sizes }) => {
    const address = `person${sizes.large - 1}@example.com`
    let after: number | undefined
    return async () => {
      if (after === undefined) await journal.erasure.forget(address)
      const slice = await journal.erasure.eraseNext(after ?? 0, address)
      after = slice.next
      return after !== undefined
    }
  },
  import: ({ journal, sizes }) => {
    let made = sizes.large
    return async () => {
      const signups = Array.from({ length: signupsAtOnce }, () => usualSignup(made++))
      await journal.imports.add(signups, { keepsDuplicates: false })
      return true
    }
  },
}

/** For how long this thread was ready and had no processor, which other programs of the machine had. On Linux only. */
function waitedMs(): number {
  const path = '/proc/thread-self/schedstat'
  return existsSync(path) ? Number(readFileSync(path, 'utf8').split(' ')[1]) / 1e6 : 0
}

/** The longest time for which work held the loop; SQLite's lock is held within one turn of it. */
async function longestHold(slice: Slice) {
  let [ms, waited, slices, isRunning] = [0, 0, 0, true]
  let [last, waitedAt] = [performance.now(), waitedMs()]
  const tick = () => {
    const held = performance.now() - last
    const now = waitedMs()
    ms = Math.max(ms, held - (now - waitedAt))
    waited = Math.max(waited, now - waitedAt)
    last = performance.now()
    waitedAt = now
    if (isRunning) setImmediate(tick)
  }
  setImmediate(tick)
  for (let more: unknown = true; more && slices < slicesMax; slices++) {
    more = await slice()
    // As all of them rest between their slices.
    await new Promise((resolve) => setImmediate(resolve))
  }
  isRunning = false
  return { ms, waited, slices }
}

/** The sites of the journals, by name. */
export const policies = new Map([
  ['default', { confirmation: { waitMs: 7 * day }, welcomes: true }],
])

/**
 * Mails that wait, welcomes that went long ago, and signups beside the list whose time is over.
 *
 * @param randomId what makes an id, in SQL
 */
export function statementsFor(count: number, randomId: string): readonly string[] {
  const numbers = (max: number) =>
    `WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < ${max})`
  const message = (kind: string, rank: number, stage: number, ended: string, first: number) => `
    ${numbers(count)} INSERT INTO message (number, id, site, kind, rank, turn, person, recipient, email,
      language, share, body, made_at, stage, next_at, ended_at)
    SELECT n + ${first}, 'm' || (n + ${first}), 1, '${kind}', ${rank}, n, 'p' || n, 'p' || n,
      'asks' || n || '@example.com', 'en', '', '', ${now}, ${stage}, 0, ${ended} FROM n`
  return [
    message('confirm', 0, 1, 'NULL', 0),
    message('welcome', 2, 3, `${now - 90 * day} + n`, count),
    `${numbers(count)} INSERT INTO pending (number, id, site, person, state, expires_at, signals,
       mail_wanted, share, language, sheet_tab, received_at, email, source, name, tags, metadata, fields)
     SELECT n, ${randomId}, 1, 'p' || n, 0, ${now - 1}, '', false, '', 'en', '', ${now},
       'asks' || n || '@example.com', '', '', '', '', '' FROM n`,
  ]
}

export const backgroundScenarios: readonly Scenario[] = Object.entries(kinds).map(
  ([kind, sliceOf]) => ({
    name: `background-${kind}`,
    what: `longest hold of the loop and of SQLite's lock by ${kind}, with 1,000,000 signups`,
    unit: 'ms',
    reach: atMost(10),
    aim: atMost(5),
    async run(sizes) {
      await using world = await World.create()
      const dataDir = await fillJournal(world.path('data'), sizes.large, 'written')
      const file = join(dataDir, 'journal.db')
      {
        using db = new DatabaseSync(file)
        for (const statement of statementsFor(sizes.backlog, 'randomblob(16)')) db.exec(statement)
      }
      // What the copy left for the disk would hold up the first commits.
      await syncFile(file)
      await using all = openSqliteSites(file, policies)
      const [journal] = all.sites.values()
      if (!journal) throw new Error('The journal has no site.')
      const slice = sliceOf({ all, journal, sizes })
      // The first one prepares its statements.
      await slice()
      const { ms, waited, slices } = await longestHold(slice)
      const note = `without up to ${waited.toFixed(1)} ms in which others had the processor; ${slices} slices; ${sizes.backlog} mails behind`
      return { values: [ms], note }
    },
  }),
)
