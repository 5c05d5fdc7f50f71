import { strictQuota } from '../../emulators/google-sheets/quota.ts'
import { openSqliteJournal } from '../../src/journal/sqlite/sqlite-journal.ts'
import type { Millis } from '../../src/signup/signup.ts'
import { changed } from '../../harness/changed.ts'
import { makeSignup } from './make-signup.ts'
import { Network } from './network.ts'
import { createDice, type Dice, type Schedule } from './schedule.ts'
import { SimulatedGoogle } from './simulated-google.ts'
import { SimulatedProcess } from './simulated-process.ts'
import { SimulatedTime } from './simulated-time.ts'
import { Truth } from './truth.ts'

const second = 1000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour

/** One signup of the week. */
export interface Delivered {
  readonly kind: 'single' | 'steady' | 'burst'
  /** Time from the durable write to the row. */
  readonly latencyMs: Millis
}

export interface Week {
  readonly delivered: readonly Delivered[]
  readonly accepted: number
  readonly violation: string | undefined
  /** How many calls Google answered with 429. */
  readonly overQuota: number
  /** How many calls each day had. */
  readonly callsByDay: readonly number[]
  /** How many rows each batch of the first, steady day had, in order. */
  readonly steadyBatches: readonly number[]
}

const calm: Schedule['chance'] = {
  call: 0,
  token: 0,
  journal: 0,
  kill: 0,
  stop: 0,
  foreignMarker: 0,
}
const quota = { perMinute: 50, perDay: 10_000 }

/**
 * Runs a week without faults, under every quota that Google has or once had: a day on which somebody
 * signs up every two seconds, then six days of single signups with bursts of hundreds in between.
 */
export async function runWeek(seed: number): Promise<Week> {
  const dice = createDice(seed)
  const time = new SimulatedTime()
  const acceptedAt = new Map<string, { readonly at: Millis; readonly kind: Delivered['kind'] }>()
  const delivered: Delivered[] = []
  const truth = new Truth({
    ...quota,
    markersMax: 300,
    onRow(email) {
      const accepted = acceptedAt.get(email)
      if (accepted) delivered.push({ kind: accepted.kind, latencyMs: time.now - accepted.at })
    },
  })
  const google = new SimulatedGoogle(truth, dice.random, strictQuota)
  const steadyBatches: number[] = []
  const note = (event: string, detail = '') => {
    if (event === 'batchWritten' && time.now < day)
      steadyBatches.push(Number(detail.split(', ')[1]))
  }
  const isFaulty = () => false
  const network = new Network({
    time,
    dice,
    google,
    chance: calm,
    isFaulty,
    travelMaxMs: 150,
    note,
  })
  await using journal = openSqliteJournal(':memory:', {}, { clock: time.clock })
  // Reading a large batch takes several turns of the event loop, but no simulated time.
  const delivery = changed(journal.delivery, {
    waiting: (...slice) => time.standStill(() => journal.delivery.waiting(...slice)),
  })
  let acceptedCount = 0
  planTraffic(time, dice, (kind) => {
    const signup = makeSignup((acceptedCount += 1), 'News', time.now)
    acceptedAt.set(signup.email, { at: time.now, kind })
    truth.accept('News', signup.email)
    void journal.intake.append([signup])
  })
  const process = new SimulatedProcess({
    time,
    dice,
    truth,
    network,
    journal: { ...journal, delivery },
    schedule: { chance: calm, quota, markersMax: 300 },
    flaw: {},
    wall: () => Date.UTC(2026, 10, 20) + Math.floor(time.now),
    isFaulty,
    isDiskFull: isFaulty,
    note,
    onDeath: () => undefined,
  })
  await process.start()
  await time.runUntil(7 * day + hour, () => truth.violation !== undefined)
  process.kill()
  google.check()
  const { overQuota } = google
  const { violation } = truth
  const callsByDay = Array.from(
    { length: 7 },
    (_, index) => truth.calls.filter((at) => Math.floor(at / day) === index).length,
  )
  return { delivered, accepted: acceptedCount, violation, overQuota, callsByDay, steadyBatches }
}

function planTraffic(
  time: SimulatedTime,
  dice: Dice,
  signUp: (kind: Delivered['kind']) => void,
): void {
  for (let at = 0; at < day; at += 2 * second) time.after(at, () => signUp('steady'))
  for (let at = day + hour; at < 7 * day; at += dice.between(2, 30) * minute) {
    const isBurst = dice.chance(0.05)
    time.after(at, () => {
      for (let left = isBurst ? dice.between(100, 900) : 1; left > 0; left--) {
        signUp(isBurst ? 'burst' : 'single')
      }
    })
  }
}
