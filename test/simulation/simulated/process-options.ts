import type { Journal } from '../../../src/journal/contracts/journal.ts'
import type { Clock } from '../../../src/platform/clock.ts'
import type { Millis } from '../../../src/signup/signup.ts'
import type { Dice } from '../dice.ts'
import type { Network } from './network.ts'
import type { Schedule } from '../schedule.ts'
import type { DiskUser } from './simulated-disk.ts'
import type { SharedStore } from './shared-store.ts'
import type { SimulatedTime } from './simulated-time.ts'
import type { Truth } from '../truth.ts'
import type { WireWatch } from './wire-watch.ts'

export interface ProcessOptions {
  readonly time: SimulatedTime
  readonly dice: Dice
  readonly truth: Truth
  /** Checks what is sent, besides the outcome. */
  readonly watch: WireWatch
  readonly network: Network
  /** The store of the journal, when it is on another machine. */
  readonly store?: SharedStore | undefined
  /** Opens the journal on the disk. @throws JournalUnavailable */
  readonly connect: (user: DiskUser, clock: Clock) => Journal
  readonly schedule: Pick<
    Schedule,
    'chance' | 'quota' | 'markersMax' | 'rowsMax' | 'bytesMax' | 'stops' | 'store'
  >
  /** The wall clock. */
  readonly wall: () => Millis
  readonly isFaulty: () => boolean
  readonly isDiskFull: () => boolean
  /** Whether processes keep dying soon after their start. */
  readonly isCrashing: () => boolean
  /** Whether a process is stopped now. One at a time is, so that another one goes on. */
  readonly isAnyStopped: () => boolean
  readonly note: (event: string, detail?: string) => void
  /** Called when the process is killed at a step. */
  readonly onDeath: () => void
  /** Called when the power fails at a step, which kills all processes. */
  readonly onPowerCut: () => void
}
