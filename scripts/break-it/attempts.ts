import { setTimeout as sleep } from 'node:timers/promises'
import type { Fault } from '../../emulators/google-sheets/faults.ts'
import type { GoogleEmulator } from '../../emulators/google-sheets/server.ts'
import type { Visitors } from './visitors.ts'

/** What an attempt to break the service has at hand. */
export interface Outside {
  readonly emulator: GoogleEmulator
  readonly visitors: Visitors
  readonly stop: AbortSignal
  /** Kills the service with SIGKILL, and starts it again. */
  readonly killAndStart: () => Promise<void>
}

const outageMs = 20_000
const betweenVisitorsMs = 200

/** Resolves when it is over and its visitors were answered. */
type Attempt = (outside: Outside) => Promise<void>

const named: Readonly<Record<string, Attempt>> = {
  crowd: ({ visitors }) => visitors.come(500),
  tenfold: ({ visitors }) => visitors.signUp(10),
  down: (outside) => during(outside, { answer: 'unavailable', times: 0 }, outageMs),
  quota: (outside) => during(outside, { on: 'write', answer: 'quota', times: 0 }, outageMs),
  lost: (outside) => during(outside, { on: 'batchUpdate', apply: 'now', answer: 'drop', times: 2 }),
  late: (outside) => {
    const late = {
      apply: 'later',
      applyAfterMs: 6_000,
      delayMs: 3_000,
      answer: 'deadline',
    } as const
    return during(outside, { on: 'batchUpdate', ...late, times: 2 })
  },
  kill: async ({ visitors, killAndStart }) => {
    const signups = Array.from({ length: 100 }, () => visitors.signUp())
    await Promise.race(signups)
    await killAndStart()
    await Promise.all(signups)
  },
}

/** By the buttons of the page. */
export const attempts: ReadonlyMap<string, Attempt> = new Map(Object.entries(named))

/** People go on signing up until the fault has met all its calls, or its time is over. */
async function during(outside: Outside, fault: Fault, forMs = 3 * outageMs): Promise<void> {
  const { emulator, visitors, stop } = outside
  const ends = performance.now() + forMs
  const signups: Promise<void>[] = []
  emulator.faults.add(fault)
  while (emulator.faults.pending.includes(fault) && performance.now() < ends && !stop.aborted) {
    signups.push(visitors.signUp())
    await sleep(betweenVisitorsMs, undefined, { signal: stop }).catch(() => undefined)
  }
  emulator.faults.remove(fault)
  await Promise.all(signups)
}
