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
import type { Writer } from '../../../src/delivery/writer.ts'
import { Refusal } from '../../../src/http/problem.ts'
import type { Journal } from '../../../src/journal/contracts/journal.ts'
import type { Events } from '../../../src/ops/events.ts'
import { createHealth } from '../../../src/ops/health.ts'
import type { Clock } from '../../../src/platform/clock.ts'
import { createSiteDelivery } from '../../../src/service/site-delivery.ts'
import { createWriter, type DeliveryOverrides } from '../../../src/service/site-delivery.ts'
import type { Leaseholder } from '../../../src/delivery/leaseholder.ts'
import type { Millis } from '../../../src/signup/signup.ts'
import type { Spreadsheet } from '../../../src/spreadsheet/spreadsheet.ts'
import { changed } from '../../../harness/changed.ts'
import { JournalSteps } from '../journal-steps.ts'
import { Life } from '../life.ts'
import { processEvents, wordsOf } from './process-events.ts'
import { OutgoingCalls } from './outgoing-calls.ts'
import type { ProcessOptions } from './process-options.ts'
import type { Instance } from './shared-store.ts'
import { robot, spreadsheetId } from './simulated-google.ts'
import { SimulatedIntake } from './simulated-intake.ts'
import type { Receiver, Seen, SignupRequest } from '../visitors.ts'

const simulatedSettings = {
  kind: 'google',
  spreadsheetId,
  credentials: { email: robot.email },
  apiUrl: 'https://sheets.example.com',
  tokenUrl: 'https://sheets.example.com/token',
} as const

const signsNothing = { kind: 'key', email: robot.email, privateKey: '' } as const

type OpenJournal = Journal
type Delivering = Pick<Writer, 'start' | 'stop'>

export class SimulatedProcess implements Receiver {
  readonly #options: ProcessOptions
  readonly #life: Life
  readonly #journal: JournalSteps
  readonly #calls: OutgoingCalls
  readonly #clock: Clock
  /** At a shared store. */
  readonly #instance: Instance | undefined
  readonly #health = createHealth()
  readonly #events: Events
  #intake: SimulatedIntake | undefined
  #delivering: Delivering | undefined
  #holder: Leaseholder | undefined
  /** Told when the process dies: visitors whose requests are not answered. */
  readonly #visitors = new Set<(seen: Seen) => void>()

  constructor(options: ProcessOptions) {
    this.#options = options
    this.#life = new Life(options, () => {
      for (const end of this.#visitors) end('unanswered')
    })
    this.#journal = new JournalSteps(options, this.#life)
    this.#clock = this.#life.clock()
    this.#events = processEvents({
      health: this.#health,
      clock: this.#clock,
      note: options.note,
      onFailure: (error) => this.#failUnexpectedly(error),
    })
    this.#instance = options.store?.connect(this.#life, this.#clock)
    const isElsewhere = () => this.#instance?.isElsewhere() ?? false
    this.#calls = new OutgoingCalls(options, this.#life, this.#journal, isElsewhere)
  }

  /** Starts intake and delivery as the service does. Rejects when the journal cannot be opened. */
  async start(): Promise<void> {
    const opened = (await this.#journal.step('open', [], () => this.#open())) as OpenJournal
    const part = <T extends object>(whole: T) => this.#journal.of(whole)
    const journal = {
      ...opened,
      intake: part(opened.intake),
      delivery: part(opened.delivery),
      erasure: part(opened.erasure),
      reader: part(opened.reader),
      lease: part(opened.lease),
      callLedger: (...account: Parameters<OpenJournal['callLedger']>) =>
        part(opened.callLedger(...account)),
    }
    this.#delivering = this.#options.store
      ? this.#deliverUnderLease(journal)
      : this.#deliver(journal)
    this.#intake = new SimulatedIntake({
      journal: journal.intake,
      events: this.#events,
      clock: this.#clock,
    })
    this.#delivering.start()
  }

  async #open(): Promise<OpenJournal> {
    if (!this.#instance) return this.#options.connect(this.#life, this.#clock)
    return this.#instance.open()
  }

  #deliver(journal: OpenJournal): Delivering {
    return createWriter({ ...this.#settings(), journal, events: this.#events }, this.#parts())
  }

  #deliverUnderLease(journal: OpenJournal): Delivering {
    const [health, events] = [this.#health, this.#events]
    return (this.#holder = createSiteDelivery(
      { ...this.#settings(), journal, health, events },
      this.#parts(),
    ))
  }

  #settings() {
    const { quota } = this.#options.schedule
    return {
      spreadsheet: { ...simulatedSettings, quota },
      workbookDir: 'no workbook is written here',
      signIn: signsNothing,
    }
  }

  /** What the simulation puts in place of the real world. */
  #parts(): DeliveryOverrides {
    const { schedule, dice } = this.#options
    return {
      clock: this.#clock,
      random: dice.random,
      http: (request) => this.#calls.send(request),
      signWith: () => async () => 'signed',
      wrap: (real) => withLimits(real, schedule),
    }
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
    return this.#health.delivery.state === 'blocked'
  }

  /** Whether the process holds the lease of a shared store. */
  get delivers(): boolean {
    return this.#holder?.holds ?? false
  }

  /** Whether a pause is over, if there was one. */
  get isAwake(): boolean {
    return this.#life.isAwake
  }

  kill(): void {
    this.#life.kill()
  }

  async stop(graceMs: Millis): Promise<void> {
    await this.#delivering?.stop(graceMs)
    this.kill()
  }

  pause(ms: Millis): void {
    this.#life.pause(ms)
  }

  /** For this time no request of this process reaches the network. */
  cutOff(ms: Millis): void {
    this.#calls.cutOff(ms)
  }

  /** For this time the process does not reach the shared store. */
  cutStore(ms: Millis): void {
    this.#instance?.link.cut(ms)
  }

  /** No fault is a reason for an error that the writer does not know. */
  #failUnexpectedly(error: unknown): void {
    this.#options.truth.violate(`delivery failed: ${wordsOf(error)}`)
  }
}

/** The same spreadsheet with other limits, which are reached sooner. */
function withLimits(
  spreadsheet: Spreadsheet,
  { markersMax, rowsMax, bytesMax }: ProcessOptions['schedule'],
): Spreadsheet {
  const { profile } = spreadsheet
  const markers = { ...profile.markers, max: Math.min(profile.markers.max, markersMax) }
  return changed(spreadsheet, { profile: { ...profile, rowsMax, bytesMax, markers } })
}
