/**
 * One run of the program, from its start to its death: intake and delivery as the service wires them,
 * with a journal of its own, and with a disk, a network and a clock that the simulation owns. Each use
 * of these is a step. At each step
 *
 *   the process may be killed   before the step, or after it and before its result is known, or in a
 *                               commit. Only commits of the journal and requests on the network
 *                               survive. The promises of a dead process never settle, so no code of
 *                               it runs on.
 *   the journal may fail        because the disk is full: nothing is changed, and the next try may succeed.
 *   the process may be stopped  (SIGSTOP), and goes on after minutes or hours with what it knew.
 *
 * A pause delays timers and answers; a stop at a step delays that step, too. Elapsed time goes on.
 */
import type { Writer } from '../../src/delivery/writer.ts'
import { Refusal } from '../../src/http/problem.ts'
import type { Events } from '../../src/ops/events.ts'
import type { HttpClient } from '../../src/platform/http-client.ts'
import type { DurableFiles } from '../../src/platform/node/durable-file.ts'
import { createDelivery } from '../../src/service/delivery.ts'
import type { Millis } from '../../src/signup/signup.ts'
import type { Spreadsheet } from '../../src/spreadsheet/spreadsheet.ts'
import { changed } from '../../harness/changed.ts'
import { JournalSteps } from './journal-steps.ts'
import { Life, never } from './life.ts'
import { OutgoingCalls } from './outgoing-calls.ts'
import type { ProcessOptions } from './process-options.ts'
import { robot, spreadsheetId } from './simulated-google.ts'
import { SimulatedIntake } from './simulated-intake.ts'
import type { SimulatedWorkbook } from './simulated-workbook.ts'
import type { Receiver, Seen, SignupRequest } from './visitors.ts'

const simulatedSettings = {
  kind: 'google',
  spreadsheetId,
  credentials: { email: robot.email },
  apiUrl: 'https://sheets.example.com',
  tokenUrl: 'https://sheets.example.com/token',
} as const

export class SimulatedProcess implements Receiver {
  readonly #options: ProcessOptions
  readonly #life: Life
  readonly #journal: JournalSteps
  readonly #calls: OutgoingCalls
  #isBlocked = false
  #intake: SimulatedIntake | undefined
  #writer: Writer | undefined
  /** Told when the process dies: visitors whose requests are not answered. */
  readonly #visitors = new Set<(seen: Seen) => void>()

  constructor(options: ProcessOptions) {
    this.#options = options
    this.#life = new Life(options, () => {
      for (const end of this.#visitors) end('unanswered')
    })
    this.#journal = new JournalSteps(options, this.#life)
    this.#calls = new OutgoingCalls(options, this.#life, this.#journal)
  }

  /** Starts intake and delivery as the service does. Rejects when the journal cannot be opened. */
  async start(): Promise<void> {
    const { schedule, dice, flaw, connect, lookEveryMs, workbook } = this.#options
    const clock = this.#life.clock()
    const events = this.#events()
    const opened = (await this.#journal.step('open', [], async () =>
      connect(this.#life, clock),
    )) as ReturnType<typeof connect>
    const intake = this.#journal.of(opened.intake)
    this.#intake = new SimulatedIntake({ journal: flaw.intake?.(intake) ?? intake, events, clock })
    const delivery = this.#journal.of(opened.delivery)
    const journal = flaw.journal?.(delivery) ?? delivery
    const http: HttpClient = (request) => this.#calls.send(request)
    await flaw.onStart?.(journal)
    const { writer } = createDelivery(
      {
        spreadsheet: workbook
          ? { kind: 'workbook' }
          : { ...simulatedSettings, quota: schedule.quota },
        dataDir: workbook?.dataDir ?? 'no workbook is written here',
        privateKey: 'signs nothing',
        journal: {
          delivery: journal,
          erasure: this.#journal.of(opened.erasure),
          callLedger: (...account) => this.#journal.of(opened.callLedger(...account)),
          comparison: (how) => opened.comparison(how),
        },
        events,
      },
      {
        clock,
        random: dice.random,
        http: flaw.http?.(http) ?? http,
        ...(workbook && { files: this.#files(workbook) }),
        ...(lookEveryMs !== undefined && { lookEveryMs }),
        signWith: () => async () => 'signed',
        wrap: (real) => {
          const spreadsheet = workbook
            ? this.#inNoTime(withLimits(real, schedule))
            : withLimits(real, schedule)
          return flaw.spreadsheet?.(spreadsheet, journal) ?? spreadsheet
        },
      },
    )
    this.#writer = writer
    writer.start()
  }

  signUp(request: SignupRequest, tell: (seen: Seen) => void): void {
    const { truth } = this.#options
    const intake = this.#intake
    if (!intake) return tell('unanswered')
    const end = (seen: Seen) => {
      if (this.#visitors.delete(end)) tell(seen)
    }
    this.#visitors.add(end)
    this.#life.after(0, () => {
      intake.take(request).then(
        () => end('accepted'),
        (error: unknown) => {
          if (error instanceof Refusal) end('refused')
          else truth.violate(`a signup failed: ${wordsOf(error)}`)
        },
      )
    })
  }

  /** Whether the process reports that delivery is blocked. */
  get isBlocked(): boolean {
    return this.#isBlocked
  }

  /** Whether a pause is over, if there was one. */
  get isAwake(): boolean {
    return this.#life.isAwake
  }

  kill(): void {
    this.#life.kill()
  }

  async stop(graceMs: Millis): Promise<void> {
    await this.#writer?.stop(graceMs)
    this.kill()
  }

  pause(ms: Millis): void {
    this.#life.pause(ms)
  }

  /** For this time no request of this process reaches the network. */
  cutOff(ms: Millis): void {
    this.#calls.cutOff(ms)
  }

  #files({ files }: SimulatedWorkbook): DurableFiles {
    const { flaw, isDiskFull, isFaulty, dice, schedule, note } = this.#options
    const ours = files.of({
      diesAt: (step) => this.#life.diesAt(step),
      failsAt: (step) => {
        if (isDiskFull()) return 'ENOSPC'
        if (!isFaulty() || !dice.chance(schedule.chance.journal)) return undefined
        note('file fails', step)
        return 'EIO'
      },
    })
    return flaw.files?.(ours) ?? ours
  }

  /** The same workbook. Its reads take turns of the event loop, but no simulated time. */
  #inNoTime(workbook: Spreadsheet): Spreadsheet {
    const timeless =
      <V extends unknown[], R>(work: (...values: V) => Promise<R>) =>
      async (...values: V): Promise<R> => {
        const { time } = this.#options
        const result = await time.standStill(() =>
          Promise.race([work(...values), this.#life.death]),
        )
        return result === undefined || !this.#life.isAlive ? never() : result
      }
    return changed(workbook, {
      open: timeless((...values) => workbook.open(...values)),
      write: timeless((...values) => workbook.write(...values)),
      abandon: timeless((...values) => workbook.abandon(...values)),
      prune: timeless((...values) => workbook.prune(...values)),
    })
  }

  /** No fault is a reason for an error that the writer does not know. */
  #failUnexpectedly(error: unknown): void {
    // A planted bug has to show in the outcome.
    if (this.#options.watch) this.#options.truth.violate(`delivery failed: ${wordsOf(error)}`)
  }

  /** Writes every event into the trace. */
  #events(): Events {
    const { note } = this.#options
    return new Proxy({} as Events, {
      get: (_, name) => {
        return (...values: readonly unknown[]) => {
          if (name === 'deliveryBlocked') this.#isBlocked = true
          if (name === 'deliveryResumed') this.#isBlocked = false
          if (name === 'deliveryFailed') this.#failUnexpectedly(values[0])
          // Leaves out marker ids: the journal draws them at random, so they differ between runs of a seed.
          note(String(name), name === 'deliveryOddity' ? '' : values.map(wordsOf).join(', '))
        }
      },
    })
  }
}

function wordsOf(value: unknown): string {
  return value instanceof Error ? value.message : String(value)
}

/** The same spreadsheet with other limits, which are reached sooner. */
function withLimits(
  spreadsheet: Spreadsheet,
  { markersMax, rowsMax, bytesMax }: ProcessOptions['schedule'],
): Spreadsheet {
  const { profile } = spreadsheet
  const max = Math.min(profile.markers.max, profile.hasQuota ? markersMax : Infinity)
  const markers = { ...profile.markers, max }
  return changed(spreadsheet, { profile: { ...profile, rowsMax, bytesMax, markers } })
}
