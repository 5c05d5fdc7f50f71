import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'

import { seededRandom } from '../../emulators/google-sheets/faults.ts'
import { allDelivered, waitUntil } from '../../harness/delivery-state.ts'
import { startMailServer } from '../../harness/mail-world.ts'
import { readTab } from '../../harness/read-workbook.ts'
import { type RunningService, startService } from '../../harness/start-service.ts'
import { tempFolder } from '../../harness/temp-folder.ts'
import { readJournal } from './crash-load.ts'
import { type Arrival, MailPeople } from './mail-people.ts'

export interface MailRoundsOptions {
  readonly rounds: number
  readonly seed: number
}

/** So that a kill finds a mail of which nobody knows whether it was sent. */
const slowAnswers = [
  { stage: 'answer', delayMs: 100, probability: 0.6, times: 0 },
  { stage: 'rcpt', delayMs: 15, probability: 0.5, times: 0 },
] as const

/**
 * Kills a process at a random moment of each round, while people sign up, get mails and confirm. Expects that
 * everybody who confirms has one row and nobody else has any, that no mail goes before its commit, and that a
 * kill lets at most one mail go twice.
 */
export async function expectMailsToSurvive(options: MailRoundsOptions): Promise<void> {
  const { rounds, seed } = options
  console.log(`The seed of the mails is ${seed}. SEED=${seed} kills at the same moments again.`)
  const random = seededRandom(seed)
  await using server = await startMailServer()
  await server.fault(...slowAnswers)
  const env = {
    ...server.env,
    ...{ CONFIRMATION: 'mail', MAIL_PER_HOUR: '1000000', RATE_LIMIT_PER_MINUTE: '0' },
  }
  await using folder = await tempFolder()
  const start = () => startService({ dataDir: folder.path, env })
  let service: RunningService = await start()
  await using _ = { [Symbol.asyncDispose]: () => service[Symbol.asyncDispose]() }
  await using people = new MailPeople({
    ...{ server, random: seededRandom(seed + 1) },
    nextUrl: () => service.url,
  })
  for (let round = 0; round < rounds; round += 1) {
    await sleep(300 + random() * 2200)
    await service.kill()
    // What the process has handed over is with the server then.
    await sleep(20)
    expectCommitted(folder.path, await people.takeMails())
    people.nextRound()
    service = await start()
  }
  people.stopSigningUp()
  await server.clearFaults()
  await waitUntil(
    async () => (await people.takeMails(), people.unmailed().length === 0),
    () => `no mail has come to ${people.unmailed().join(', ')}`,
  )
  await people.end()
  await allDelivered(service)
  expectCommitted(folder.path, people.arrivals)
  expectFewDoubles(people.arrivals)
  await service.stop()
  const listed = readJournal(folder.path).map(({ email }) => email)
  const rows = readTab(folder.path, 'Sheet1.csv').slice(1)
  const doubles = people.arrivals.length - new Set(people.arrivals.map((it) => it.message)).size
  console.log(
    `${rounds} kills, ${people.asked.size} signups answered with 202, ` +
      `${people.arrivals.length} mails (${doubles} of them twice), ${people.confirmed.size} people confirmed, ` +
      `${people.cut} requests were cut off, ${rows.length} rows`,
  )
  expect(people.confirmed.size).toBeGreaterThan(rounds)
  expect(listed.toSorted()).toEqual([...people.confirmed].toSorted())
  expect(rows.map(([email]) => email)).toEqual(listed)
}

/** The journal has made these mails for a signup, and counted them before they were sent. */
function expectCommitted(dataDir: string, mails: readonly Arrival[]): void {
  using database = new DatabaseSync(join(dataDir, 'journal.db'), { readOnly: true })
  const rows = database.prepare(countedMessages).all()
  const known = new Set(rows.map(({ id }) => String(id)))
  expect(mails.filter(({ message }) => !known.has(message))).toEqual([])
}

const countedMessages = `
  SELECT id FROM message
  WHERE EXISTS (SELECT 1 FROM sending WHERE sending.message = message.number)
    AND EXISTS (SELECT 1 FROM pending WHERE pending.person = message.person)`

function expectFewDoubles(arrivals: readonly Arrival[]): void {
  const messages = Map.groupBy(arrivals, ({ message }) => message)
  // One mail to each person, as the limits say.
  expect(messages.size).toBe(new Set(arrivals.map(({ to }) => to)).size)
  // Each time but the last that a mail has come is one of which a kill has left nobody knowing.
  const unknown = [...messages.values()].flatMap((all) => all.slice(0, -1))
  const inRound = Map.groupBy(unknown, ({ round }) => round)
  expect([...inRound.values()].filter((all) => all.length > 1)).toEqual([])
}
