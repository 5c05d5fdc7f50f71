import type { Millis } from '../../src/signup/signup.ts'
import { CalmWorld } from './calm-world.ts'
import type { Dice } from './dice.ts'
import type { SimulatedTime } from './simulated/simulated-time.ts'

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

/**
 * Runs a week without faults, under every quota that Google has or once had: a day on which somebody
 * signs up every two seconds, then six days of single signups with bursts of hundreds in between.
 */
export async function runWeek(seed: number): Promise<Week> {
  const acceptedAt = new Map<string, { readonly at: Millis; readonly kind: Delivered['kind'] }>()
  const delivered: Delivered[] = []
  const steadyBatches: number[] = []
  await using world = new CalmWorld(seed, {
    travelMaxMs: 150,
    onRow(email) {
      const accepted = acceptedAt.get(email)
      if (accepted) delivered.push({ kind: accepted.kind, latencyMs: time.now - accepted.at })
    },
    note(event, detail = '') {
      if (event === 'batchWritten' && time.now < day)
        steadyBatches.push(Number(detail.split(', ')[1]))
    },
  })
  const { time, dice, truth } = world
  planTraffic(time, dice, (kind) => {
    const [email = ''] = world.signUp(1)
    acceptedAt.set(email, { at: time.now, kind })
  })
  await world.runUntil(7 * day + hour)
  const callsByDay = Array.from(
    { length: 7 },
    (_, index) => truth.calls.filter((at) => Math.floor(at / day) === index).length,
  )
  const { accepted, overQuota, violation } = world
  return { delivered, accepted, violation, overQuota, callsByDay, steadyBatches }
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
