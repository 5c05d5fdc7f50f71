// @module-tag slow
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'

import { type Fault, seededRandom } from '../../emulators/google-sheets/faults.ts'
import { columns } from '../../src/signup/row.ts'
import { type AcceptedSignup, type Load, readJournal, signUpUntilGone } from './crash-load.ts'
import { allDelivered } from '../../harness/delivery-state.ts'
import { createGoogleWorld } from '../../harness/google-world.ts'
import { readTab } from '../../harness/read-workbook.ts'
import { type StartOptions, startService } from '../../harness/start-service.ts'
import { tempFolder } from '../../harness/temp-folder.ts'

const kills = 30
const visitorsAtOnce = 4
const tabs = ['Sheet1', 'News', 'Events']
const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)

const harms: readonly Fault[] = [
  { apply: 'never', answer: 'drop' },
  { apply: 'never', answer: 'badGateway' },
  { apply: 'now', answer: 'drop' },
  { apply: 'now', answer: 'unavailable' },
  { apply: 'now', answer: 'html200' },
  { apply: 'now', answer: 'truncated' },
  { apply: 'twice', answer: 'real', answerOf: 'second' },
  { apply: 'later', answer: 'drop', applyAfterMs: 700 },
  { apply: 'later', answer: 'deadline' },
  { apply: 'now', delayMs: 200 },
  { apply: 'later', answer: 'drop', applyAfterMs: 100, delayMs: 400 },
]

/** Each batch meets the next one of these faults, and a tenth of the reads any of them. */
const faults: readonly Fault[] = [
  ...[1, 2, 3, 4].flatMap(() => harms.map((harm): Fault => ({ ...harm, on: 'batchUpdate' }))),
  ...harms.map((harm): Fault => ({ ...harm, on: 'read', probability: 0.01, times: 0 })),
]

describe.concurrent('kills at random moments', () => {
  test(`after ${kills} kills under load every accepted signup is one row, in order (workbook)`, async () => {
    await using folder = await tempFolder()
    const load = { tabs, visitorsAtOnce, pauseMs: 0 }
    const accepted = await killUnderLoad({ dataDir: folder.path }, load, 400, seed)
    await using service = await startService({ dataDir: folder.path })
    await allDelivered(service)
    await service.stop()
    const rows = tabs.map((tab) => readTab(folder.path, `${tab}.csv`))
    expectJournalIsRows('workbook', accepted, readJournal(folder.path), rows)
  })

  test(`after ${kills} kills under load every accepted signup is one row, in order (Google)`, async () => {
    await using folder = await tempFolder()
    await using world = await createGoogleWorld({ seed })
    const env = { ...world.env, SHEETS_REQUESTS_PER_MINUTE: '3000' }
    world.emulator.faults.add(...faults)
    // Signups come so slowly that a batch is sent after 0.8 s. In a burst it would wait for 3 s.
    const load = { tabs, visitorsAtOnce, pauseMs: visitorsAtOnce * 20 }
    const harmed = () =>
      world.emulator.log.calls('batchUpdate').filter(({ fault }) => fault !== undefined).length
    const isEnough = () => harmed() > 5
    const options = { dataDir: folder.path, env }
    const accepted = await killUnderLoad(options, load, 2500, seed + 1, isEnough)
    console.log(`Google: ${harmed()} batch calls met a fault`)

    world.emulator.faults.clear()
    await using service = await startService({ dataDir: folder.path, env })
    await allDelivered(service)
    world.emulator.releaseLate()
    await service.stop()
    const rows = await Promise.all(tabs.map((tab) => world.rows(tab)))
    expectJournalIsRows('Google', accepted, readJournal(folder.path), rows)
  })
})

/** Starts the service and kills it under load, again and again until it is enough. Returns the signups with a 202. */
async function killUnderLoad(
  options: StartOptions,
  load: Load,
  lifeMsMax: number,
  ownSeed: number,
  isEnough = () => true,
): Promise<AcceptedSignup[]> {
  console.log(
    `The seed of the kill tests is ${seed}. SEED=${seed} kills at the same moments again.`,
  )
  const random = seededRandom(ownSeed)
  const accepted: AcceptedSignup[] = []
  for (let life = 1; life <= kills || !isEnough(); life += 1) {
    await using service = await startService(options)
    const signingUp = signUpUntilGone(service.url, `life${life}`, load)
    await sleep(random() * lifeMsMax)
    await service.kill()
    accepted.push(...(await signingUp))
  }
  return accepted
}

function expectJournalIsRows(
  what: string,
  accepted: readonly AcceptedSignup[],
  journal: readonly AcceptedSignup[],
  rows: readonly (readonly (readonly string[])[] | undefined)[],
): void {
  const written = rows.reduce((sum, tab) => sum + (tab?.length ?? 1) - 1, 0)
  console.log(
    `${what}: ${kills} kills, ${accepted.length} signups answered with 2xx, ` +
      `${journal.length} in the journal, ${written} rows`,
  )
  expect(accepted.length).toBeGreaterThan(kills)
  // A kill between commit and answer leaves a signup in the journal whose visitor got no answer.
  const known = new Map(journal.map((signup) => [signup.id, signup]))
  expect(accepted.filter(({ id, email }) => known.get(id)?.email !== email)).toEqual([])
  for (const [index, tab] of tabs.entries()) {
    const emails = journal.filter((signup) => signup.tab === tab).map(({ email }) => email)
    const [header, ...found] = rows[index] ?? []
    expect(header).toEqual(columns)
    expect(
      found.map(([email]) => email),
      `${what}, ${tab}`,
    ).toEqual(emails)
  }
}
