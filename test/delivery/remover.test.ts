import { expect, test } from 'vitest'

import { changed } from '../../harness/changed.ts'
import { freezeNext } from '../../harness/freeze-next.ts'
import { makeSignup } from '../../harness/make-signup.ts'
import { ManualClock } from '../../harness/manual-clock.ts'
import { ScriptedSpreadsheet } from '../../harness/scripted-spreadsheet.ts'
import { openSqliteJournal } from '../../harness/sqlite-journal.ts'
import { Account, type AccountShare } from '../../src/delivery/account.ts'
import type { Journal } from '../../src/journal/contracts/journal.ts'
import { createEvents } from '../../src/ops/events.ts'
import { createHealth } from '../../src/ops/health.ts'
import { createLog } from '../../src/ops/log.ts'
import { createWriter } from '../../src/service/site-delivery.ts'
import type { Spreadsheet } from '../../src/spreadsheet/spreadsheet.ts'
import { ada, forget } from '../journal/contracts/erasure-contract.ts'
import { claim, confirming } from '../journal/contracts/outbox-contract.ts'
import { createDeliveryWorld, googleSettings, signsNothing, writes } from './writer-world.ts'

const second = 1000
const minute = 60 * second
const bob = 'bob@example.com'

const refused = {
  kind: 'refused',
  reason: 'protectedTab',
  message: 'No',
  hint: 'Mend it.',
} as const

test('a removal that is refused holds no batch back', async () => {
  await using world = createDeliveryWorld({ lookEveryMs: second })
  const { journal, spreadsheet, clock, writer } = world
  await journal.intake.append([makeSignup({ email: ada })])
  writer.start()
  await world.delivered(1)
  spreadsheet.removes = () => ({ kind: 'removed', standing: [1], failure: refused })
  await forget(journal)
  await clock.run(minute)
  await journal.intake.append([makeSignup({ email: bob })])
  await clock.run(second)
  expect(writes(spreadsheet)).toHaveLength(2)
  spreadsheet.removes = () => undefined
  await clock.run(2 * minute)
  expect(spreadsheet.rows).toEqual({ Sheet1: [bob] })
  expect(await journal.erasure.unfinished()).toMatchObject({ removals: 0, frozen: 0 })
})

test('a forgotten signup of the frozen batch is written with it, and its row is removed then', async () => {
  await using world = createDeliveryWorld({ lookEveryMs: second })
  const { journal, spreadsheet, clock, writer } = world
  await journal.intake.append([makeSignup({ email: ada }), makeSignup({ email: bob })])
  spreadsheet.script = () => ({ applies: false, answers: { kind: 'unknown', message: 'timeout' } })
  writer.start()
  await clock.run(minute)
  expect(await forget(journal)).toMatchObject({ frozen: [1] })
  await clock.run(minute)
  expect(await journal.erasure.unfinished()).toMatchObject({ removals: 0, frozen: 1 })
  spreadsheet.script = () => undefined
  await clock.run(5 * minute)
  expect(spreadsheet.rows).toEqual({ Sheet1: [bob] })
  expect(await journal.erasure.unfinished()).toMatchObject({ removals: 0, frozen: 0 })
})

test('a writer that only removes rows ends the frozen batch, and freezes no other', async () => {
  await using world = createDeliveryWorld({ removesOnly: true })
  const { journal, spreadsheet, clock, writer } = world
  await journal.intake.append([makeSignup({ email: ada })])
  await freezeNext(journal.delivery)
  await journal.intake.append([makeSignup({ email: bob })])
  await forget(journal)
  writer.start()
  await clock.run(minute)
  expect(writes(spreadsheet)).toEqual(['write 1'])
  expect(spreadsheet.rows).toEqual({ Sheet1: [] })
  expect(await journal.delivery.pending()).toHaveLength(1)
})

/** A spreadsheet each call of which takes a turn at the gates of its account, and 400 ms. */
function pacedSpreadsheet(share: AccountShare, clock: ManualClock) {
  const calls = { rows: 0, removals: 0 }
  const call = async (use: keyof typeof calls, signal = new AbortController().signal) => {
    await share[use === 'rows' ? 'gate' : 'removalGate'](signal)
    calls[use] += 1
    await clock.sleep(400)
  }
  const spreadsheet = new ScriptedSpreadsheet()
  spreadsheet.script = async (_batch, _attempt, _maySend, signal) => {
    await call('rows', signal)
    return undefined
  }
  const paced = changed<Spreadsheet>(spreadsheet, {
    // As at Google: the tabs, their cells, and the rows that were found.
    remove: async (rows, signal) => {
      for (let reads = 0; reads < 2; reads++) await call('removals', signal)
      const removal = await spreadsheet.remove(rows)
      const isFound = removal.kind === 'removed' && removal.standing.some(Boolean)
      if (isFound) await call('removals', signal)
      return removal
    },
  })
  return { calls, paced, standing: () => new Set(spreadsheet.rows['Sheet1']) }
}

/** Adds people who have got a welcome mail. Returns the id of each one's link. */
async function welcomed(journal: Journal, people: readonly string[], now: number) {
  const greeting = { share: 'share', language: 'en' }
  await journal.intake.append(
    people.map((email) => makeSignup({ email })),
    { greeting },
  )
  const links = new Map<string, string>()
  while (links.size < people.length) {
    for (const { id, number, email } of await claim(journal)) {
      links.set(email, id)
      await journal.outbox.settle(number, { kind: 'sent', at: now })
    }
  }
  return links
}

test(
  '500 people who leave within ten minutes take few calls, go within a minute, and hold up no row',
  { tags: 'slow' },
  async () => {
    const clock = new ManualClock()
    await using journal = openSqliteJournal(':memory:', { ...confirming, welcomes: true })
    const ledger = journal.callLedger('robot', clock)
    const share = new Account({ ledger, quota: googleSettings.quota, clock, sites: 1 }).join()
    const { calls, paced, standing } = pacedSpreadsheet(share, clock)
    const people = Array.from({ length: 500 }, (_, at) => `person${at}@example.com`)
    const links = await welcomed(journal, people, clock.now())
    const events = createEvents(createLog('silent'), createHealth(), clock)
    const settings = { spreadsheet: googleSettings, workbookDir: '', signIn: signsNothing }
    const world = { clock, random: () => 0.5, signWith: () => async () => '', wrap: () => paced }
    const writer = createWriter({ ...settings, journal, share, events }, world)
    writer.start()
    await clock.runUntil(() => standing().size === people.length)
    const since = new Map<string, number>()
    const delays = { leaving: 0, joining: 0 }
    const pass = async (ms: number) => {
      for (const end = clock.elapsed() + ms; clock.elapsed() < end;) {
        await clock.run(100)
        const there = standing()
        for (const [email, at] of since) {
          const kind = links.has(email) ? 'leaving' : 'joining'
          if (there.has(email) === (kind === 'leaving')) continue
          since.delete(email)
          delays[kind] = Math.max(delays[kind], clock.elapsed() - at)
        }
      }
    }
    for (const [email, link] of links) {
      await journal.confirmation.leave(link, clock.now())
      since.set(email, clock.elapsed())
      const joins = `joins-${email}`
      if (since.size % 5 === 0) await journal.intake.append([makeSignup({ email: joins })])
      if (since.size % 5 === 0) since.set(joins, clock.elapsed())
      await pass(1_200)
    }
    await pass(2 * minute)
    expect(since.size).toBe(0)
    expect(calls.removals).toBeLessThan(100)
    expect(delays.leaving).toBeLessThan(minute)
    // The pace of steady signups is a batch each 12 seconds.
    expect(delays.joining).toBeLessThan(15 * second)
    const stopped = writer.stop(0)
    await clock.run(minute)
    await stopped
  },
)
