import { join } from 'node:path'
import { expect, test } from 'vitest'

import { changed } from '../../harness/changed.ts'
import { makeSignups } from '../../harness/make-signup.ts'
import { ManualClock } from '../../harness/manual-clock.ts'
import { refuses, ScriptedSpreadsheet } from '../../harness/scripted-spreadsheet.ts'
import { SharedLease } from '../../harness/shared-lease.ts'
import { tempFolder } from '../../harness/temp-folder.ts'
import type { Journal } from '../../src/journal/contracts/journal.ts'
import type { Lease } from '../../src/journal/contracts/lease.ts'
import { openSqliteJournal } from '../../harness/sqlite-journal.ts'
import { JournalUnavailable } from '../../src/journal/contracts/errors.ts'
import { createEvents } from '../../src/ops/events.ts'
import { createHealth } from '../../src/ops/health.ts'
import { createLog } from '../../src/ops/log.ts'
import { createSiteDelivery } from '../../src/service/site-delivery.ts'
import { googleSettings, signsNothing } from './writer-world.ts'

const minute = 60_000

interface Faults {
  /** Whether the lease cannot be asked for. */
  isCutOff: boolean
  /** How long it takes to read a note. */
  readMs: number
}

/** The same journal with this lease and these faults. */
function faulty(journal: Journal, lease: Lease, faults: Faults, clock: ManualClock): Journal {
  return changed(journal, {
    lease: changed(lease, {
      hold: async () => {
        if (faults.isCutOff) throw new JournalUnavailable('Cut off')
        return lease.hold()
      },
    }),
    reader: changed(journal.reader, {
      fact: async (name) => {
        const value = await journal.reader.fact(name)
        await clock.sleep(faults.readMs)
        return value
      },
    }),
  })
}

/** Two instances of one site, with one journal, one lease and one spreadsheet. `open` starts one. */
async function createWorld() {
  const folder = await tempFolder()
  const clock = new ManualClock()
  const lease = new SharedLease(clock)
  const spreadsheet = new ScriptedSpreadsheet()
  const all = new AsyncDisposableStack()
  all.use(folder)
  return {
    clock,
    spreadsheet,
    /** @param sheet stands between this instance and the spreadsheet */
    open(name: string, sheet = spreadsheet) {
      const own = all.use(openSqliteJournal(join(folder.path, 'journal.db')))
      const health = createHealth()
      const faults = { isCutOff: false, readMs: 0 }
      const journal = faulty(own, lease.of(name), faults, clock)
      const events = createEvents(createLog('silent'), health, clock)
      const delivering = createSiteDelivery(
        {
          spreadsheet: googleSettings,
          workbookDir: '',
          signIn: signsNothing,
          journal,
          health,
          events,
        },
        {
          clock,
          random: () => 0.5,
          signWith: () => async () => 'signed',
          wrap: () => sheet,
        },
      )
      delivering.start()
      const stop = async () => {
        const stopped = delivering.stop(0)
        await clock.run(minute)
        await stopped
      }
      all.defer(stop)
      return { journal, faults, health, delivering, stop }
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}

test('of two instances one delivers what both accept, and when it stops, the other one does', async () => {
  await using world = await createWorld()
  const { clock, spreadsheet } = world
  const one = world.open('one')
  await clock.run(10)
  const other = world.open('other')
  await one.journal.intake.append(makeSignups(2))
  await other.journal.intake.append(makeSignups(3))
  await clock.run(minute)
  expect([one.delivering.holds, other.delivering.holds]).toEqual([true, false])
  expect(spreadsheet.calls.filter((call) => call === 'open')).toHaveLength(1)
  expect(Object.values(spreadsheet.rows).flat()).toHaveLength(5)
  await one.stop()
  await other.journal.intake.append(makeSignups(4))
  await clock.run(minute)
  expect(other.delivering.holds).toBe(true)
  expect(Object.values(spreadsheet.rows).flat()).toHaveLength(9)
})

test('an instance that looks on tells what blocks the writer of the other one, and that it goes on', async () => {
  await using world = await createWorld()
  const { clock, spreadsheet } = world
  const one = world.open('one')
  await clock.run(10)
  const other = world.open('other')
  const warning = { kind: 'nearlyFull', message: 'It is nearly full.' } as const
  spreadsheet.warnings = [warning]
  spreadsheet.script = () => refuses('Not shared.')
  await one.journal.intake.append(makeSignups(1))
  await clock.run(4000)
  expect(other.health.delivery).toMatchObject({ state: 'blocked', error: 'Not shared.' })
  spreadsheet.script = (batch) =>
    batch.tabs.some(({ tab }) => tab === 'Beta') ? refuses('Protected.', 'Beta') : undefined
  await one.journal.intake.append(makeSignups(1, { sheetTab: 'Beta' }))
  await clock.run(minute)
  expect(other.health).toMatchObject({ delivery: { state: 'ok' }, warnings: [warning] })
  expect([...other.health.tabs.values()]).toMatchObject([{ name: 'Beta', error: 'Protected.' }])
  spreadsheet.script = () => undefined
  await clock.run(10 * minute)
  expect(other.health).toMatchObject({ delivery: { state: 'ok' }, tabs: new Map() })
})

test('a slow look of before the takeover does not change what an instance tells of its own delivery', async () => {
  await using world = await createWorld()
  const { clock, spreadsheet } = world
  const one = world.open('one')
  await clock.run(10)
  spreadsheet.script = () => refuses('Not shared.')
  await one.journal.intake.append(makeSignups(1))
  await clock.run(3000)
  const other = world.open('other')
  other.faults.readMs = minute
  await clock.run(1500)
  spreadsheet.script = () => undefined
  await one.stop()
  await clock.run(2 * minute)
  expect(other.delivering.holds).toBe(true)
  expect(other.health.delivery).toEqual({ state: 'ok' })
})

test('an instance that has lost the lease notes nothing, and looks on', async () => {
  await using world = await createWorld()
  const { clock, spreadsheet } = world
  // The calls of the first instance go to a spreadsheet that answers when another one has delivered.
  const slow = new ScriptedSpreadsheet()
  slow.script = async () => {
    await clock.sleep(minute / 2)
    return refuses('Too late.')
  }
  const one = world.open('one', slow)
  await clock.run(1000)
  const other = world.open('other')
  await one.journal.intake.append(makeSignups(1))
  await clock.run(2000)
  one.faults.isCutOff = true
  await clock.run(minute)
  expect([one.delivering.holds, other.delivering.holds]).toEqual([false, true])
  expect(Object.values(spreadsheet.rows).flat()).toHaveLength(1)
  expect(one.health.delivery).toEqual({ state: 'ok' })
})
