import type { JournalPolicy } from '../../src/journal/contracts/journal.ts'
import type { Millis } from '../../src/signup/signup.ts'
import type { MachineAct, PersonAct } from './acts.ts'

export interface Timed<T> {
  readonly at: Millis
  readonly what: T
}

/** People who sign up at one moment. */
export interface Arrival {
  readonly tab: string
  readonly people: number
  /** Whether one request brings all of them. */
  readonly isBulk: boolean
  /** Whether their requests have idempotency keys. */
  readonly hasKeys: boolean
}

type StopTimes = readonly [Millis, Millis]

/** The part of a run that is drawn before it starts. The rest is drawn at each step. */
export interface Schedule {
  readonly signups: readonly Timed<Arrival>[]
  readonly people: readonly Timed<PersonAct>[]
  readonly machine: readonly Timed<MachineAct>[]
  /** Jumps of the wall clock. */
  readonly jumps: readonly Timed<Millis>[]
  /** The time from which nothing goes wrong any more. */
  readonly faultsUntil: Millis
  /**
   * Probabilities: of a fault of a call, of a token request, of a step of the journal, of a commit; of a
   * kill at a step; of a stop at a step for minutes or hours, after which the process goes on; that somebody
   * takes the id of a marker; that a call of a shared store is slow, or its connection breaks.
   */
  readonly chance: {
    readonly call: number
    readonly token: number
    readonly journal: number
    readonly commit: number
    readonly kill: number
    readonly stop: number
    readonly foreignMarker: number
    readonly slow: number
    readonly broken: number
  }
  /** For how long a process is stopped at a step: at least, and at most. */
  readonly stops: readonly [StopTimes, ...StopTimes[]]
  readonly writers: 1 | 2 | 3
  /** Where the journal is: on the disk of the processes, or on another machine. */
  readonly store: 'disk' | 'shared'
  readonly quota: { readonly perMinute: number; readonly perDay: number }
  readonly markersMax: number
  readonly duplicates: JournalPolicy['duplicates']
  /** The most rows of a batch, and the most bytes of these rows. A full batch is sent at once. */
  readonly rowsMax: number
  readonly bytesMax: number
  /** How long an access token keepMs. */
  readonly tokenLifeMs: Millis
  /** How long after `faultsUntil` the last row may arrive. */
  readonly drainMs: Millis
}

/** The tabs for which people sign up. */
export const tabs = ['News', 'Events', 'Jobs']
