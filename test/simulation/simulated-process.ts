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
import type { DeliveryLog } from '../../src/journal/delivery-log.ts'
import type { IntakeLog } from '../../src/journal/intake-log.ts'
import type { ComparableJournal } from '../../src/journal/journal.ts'
import { JournalUnavailable } from '../../src/journal/unavailable.ts'
import type { Events } from '../../src/ops/events.ts'
import type { Clock } from '../../src/platform/clock.ts'
import type { DurableFiles } from '../../src/platform/node/durable-file.ts'
import {
  type HttpClient,
  HttpFailure,
  type OutgoingRequest,
} from '../../src/platform/http-client.ts'
import type { FrozenBatch } from '../../src/signup/batch.ts'
import { Refusal } from '../../src/http/problem.ts'
import { createDelivery } from '../../src/service/delivery.ts'
import type { Millis } from '../../src/signup/signup.ts'
import type { Spreadsheet } from '../../src/spreadsheet/spreadsheet.ts'
import { changed } from '../../harness/changed.ts'
import type { Network, Sender } from './network.ts'
import type { Dice } from './dice.ts'
import type { Schedule } from './schedule.ts'
import { robot, spreadsheetId } from './simulated-google.ts'
import type { CommitFate, DiskUser } from './simulated-disk.ts'
import { SimulatedIntake } from './simulated-intake.ts'
import type { SimulatedTime } from './simulated-time.ts'
import type { SimulatedWorkbook } from './simulated-workbook.ts'
import { readBatch, type SentBatch, textOf } from './read-batch.ts'
import type { Truth } from './truth.ts'
import type { Receiver, Seen, SignupRequest } from './visitors.ts'
import type { WireWatch } from './wire-watch.ts'

/** A planted bug: it changes parts that the process is built from. */
export interface Flaw {
  readonly journal?: (journal: DeliveryLog) => DeliveryLog
  readonly intake?: (intake: IntakeLog) => IntakeLog
  readonly http?: (http: HttpClient) => HttpClient
  readonly spreadsheet?: (spreadsheet: Spreadsheet, journal: DeliveryLog) => Spreadsheet
  readonly files?: (files: DurableFiles) => DurableFiles
  readonly onStart?: (journal: DeliveryLog) => Promise<void>
}

export interface ProcessOptions {
  readonly time: SimulatedTime
  readonly dice: Dice
  readonly truth: Truth
  /** Checks what is sent, besides the outcome. */
  readonly watch?: WireWatch | undefined
  readonly network: Network
  /** Opens the journal. @throws JournalUnavailable */
  readonly connect: (
    user: DiskUser,
    clock: Clock,
  ) => Pick<ComparableJournal, 'intake' | 'delivery' | 'erasure' | 'callLedger' | 'comparison'>
  readonly schedule: Pick<Schedule, 'chance' | 'quota' | 'markersMax' | 'rowsMax' | 'bytesMax'>
  readonly flaw: Flaw
  /** The local workbook, when it is the spreadsheet. */
  readonly workbook?: SimulatedWorkbook | undefined
  /** How often the writer looks whether another process has appended; as in the product by default. */
  readonly lookEveryMs?: Millis
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

const minute = 60 * 1000

/**
 * Steps at which nothing goes wrong: an idle writer looks into the journal all the time, so most faults
 * would hit it then and do no harm.
 */
const quietSteps: ReadonlySet<string> = new Set(['pending', 'removals'])

/** Steps at which no process is stopped, because a stopped one does harm while it sends. */
const intakeSteps = /append|recall/

const simulatedSettings = {
  kind: 'google',
  spreadsheetId,
  credentials: { email: robot.email },
  apiUrl: 'https://sheets.example.com',
  tokenUrl: 'https://sheets.example.com/token',
} as const

export class SimulatedProcess implements Sender, DiskUser, Receiver {
  readonly #options: ProcessOptions
  readonly #born: Millis
  #isAlive = true
  #isBlocked = false
  readonly #death = Promise.withResolvers<undefined>()
  /** When the process last checked, right before a send, that its batch is still frozen. */
  #allowedAt: Millis = 0
  #pausedUntil: Millis = 0
  #cutOffUntil: Millis = 0
  #intake: SimulatedIntake | undefined
  #writer: Writer | undefined
  /** Told when the process dies: visitors whose requests are not answered. */
  readonly #visitors = new Set<(seen: Seen) => void>()

  constructor(options: ProcessOptions) {
    this.#options = options
    this.#born = options.time.now - options.dice.between(0, 1_000_000)
  }

  /** Starts intake and delivery as the service does. Rejects when the journal cannot be opened. */
  async start(): Promise<void> {
    const { schedule, dice, flaw, connect, lookEveryMs, workbook } = this.#options
    const clock = this.#clock()
    const events = this.#events()
    const opened = (await this.#journalStep('open', [], async () =>
      connect(this, clock),
    )) as ReturnType<typeof connect>
    const intake = this.#steps(opened.intake)
    this.#intake = new SimulatedIntake({ journal: flaw.intake?.(intake) ?? intake, events, clock })
    const delivery = this.#steps(opened.delivery)
    const journal = flaw.journal?.(delivery) ?? delivery
    const http: HttpClient = (request) => this.#send(request)
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
          erasure: this.#steps(opened.erasure),
          callLedger: (...account) => this.#steps(opened.callLedger(...account)),
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
    this.after(0, () => {
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

  get isAlive(): boolean {
    return this.#isAlive
  }

  /** Whether a pause is over, if there was one. */
  get isAwake(): boolean {
    return this.#options.time.now >= this.#pausedUntil
  }

  kill(): void {
    this.#isAlive = false
    this.#death.resolve(undefined)
    for (const end of this.#visitors) end('unanswered')
  }

  /** A process that is killed in a commit has written it or not. */
  drawFate(): CommitFate {
    const { isFaulty, dice, schedule, note } = this.#options
    if (!this.#isAlive) return 'lost'
    if (!isFaulty()) return 'written'
    if (this.#diesAt('in a commit')) return dice.pick(['written', 'lost'])
    if (!dice.chance(schedule.chance.commit)) return 'written'
    const fate = dice.pick(['misjudged', 'in limbo'])
    note(fate)
    return fate
  }

  async stop(graceMs: Millis): Promise<void> {
    await this.#writer?.stop(graceMs)
    this.kill()
  }

  pause(ms: Millis): void {
    this.#pausedUntil = this.#options.time.now + ms
  }

  /** For this time no request of this process reaches the network. */
  cutOff(ms: Millis): void {
    this.#cutOffUntil = this.#options.time.now + ms
  }

  /** Runs `run` later, unless the process is dead by then. Returns a function that cancels it. */
  after(ms: Millis, run: () => void): () => void {
    const { time } = this.#options
    let cancel = time.after(ms, () => {
      if (!this.#isAlive) return
      if (time.now >= this.#pausedUntil) return run()
      cancel = this.after(this.#pausedUntil - time.now, run)
    })
    return () => cancel()
  }

  /** Whether the process is dead, or is killed at this step. */
  #diesAt(step: string): boolean {
    if (!this.#isAlive) return true
    const { isFaulty, isCrashing, dice, schedule, note, onDeath, onPowerCut } = this.#options
    const chance = isCrashing() ? 0.2 : schedule.chance.kill
    if (!isFaulty() || !dice.chance(chance)) return false
    note('killed', step)
    if (dice.chance(0.1)) onPowerCut()
    else {
      this.kill()
      onDeath()
    }
    return true
  }

  #clock(): Clock {
    const { time, wall } = this.#options
    return {
      now: wall,
      elapsed: () => time.now - this.#born,
      sleep: (ms, signal) =>
        new Promise((resolve) => {
          if (signal?.aborted) return resolve()
          const done = () => {
            cancel()
            signal?.removeEventListener('abort', done)
            resolve()
          }
          const cancel = this.after(ms, done)
          signal?.addEventListener('abort', done)
        }),
    }
  }

  async #send(request: OutgoingRequest) {
    const { network, time } = this.#options
    if (this.#diesAt('before a call')) return never()
    await this.#mayBeStoppedAt('before a call')
    if (time.now < this.#cutOffUntil) {
      await new Promise<void>((resolve) => this.after(1000, resolve))
      throw new HttpFailure('the network cannot be reached')
    }
    const marker = this.#watch(request)
    const answer = network.send(request, this)
    if (this.#diesAt('while a call is on its way')) return never()
    return answer.catch((error: unknown) => {
      if (marker !== undefined) this.#options.watch?.missAnswer(marker)
      throw error
    })
  }

  /** Tells the watch what is sent. Returns the marker of its batch. */
  #watch(request: OutgoingRequest): number | undefined {
    const { network, time, watch } = this.#options
    if (!watch || !request.url.includes(':batchUpdate')) return undefined
    const tokenAt = network.tokenOf(request)
    // Google never applies a batch whose access token has run out, so its marker does not matter.
    if (tokenAt === undefined) return undefined
    const batch = readBatch(JSON.parse(textOf(request)))
    this.#checkSize(batch)
    const allowedAt = Math.max(this.#allowedAt, tokenAt)
    watch.send({ batch, sender: this, allowedAt, leftAt: time.now })
    return batch.marker
  }

  /** Checks that a batch keeps to its limits. A row that is larger goes alone. */
  #checkSize({ rows, rowBytes }: SentBatch): void {
    const { truth, note } = this.#options
    const { rowsMax, bytesMax } = this.#options.schedule
    if (rows.length > rowsMax) truth.violate(`a batch has ${rows.length} rows`)
    if (rows.length === rowsMax) note('full by rows')
    if (rows.length < 2 || bytesMax > 100_000) return
    const bytes = rowBytes()
    if (bytes > bytesMax) truth.violate(`a batch of ${rows.length} rows has ${bytes} bytes`)
    if (rows.length < rowsMax && bytes > bytesMax / 2) note('full by bytes')
  }

  /** A part of the journal in which every call is a step of this process. */
  #steps<T extends object>(part: T): T {
    return new Proxy(part, {
      get: (target, name) => {
        const method: unknown = Reflect.get(target, name, target)
        if (typeof method !== 'function') return method
        // It only adds a listener in memory.
        if (name === 'onAppend') return method.bind(target) as unknown
        return (...values: unknown[]) =>
          this.#journalStep(
            String(name),
            values,
            async () => (await Reflect.apply(method, target, values)) as unknown,
          )
      },
    })
  }

  #files({ files }: SimulatedWorkbook): DurableFiles {
    const { flaw, isDiskFull, isFaulty, dice, schedule, note } = this.#options
    const ours = files.of({
      diesAt: (step) => this.#diesAt(step),
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
          Promise.race([work(...values), this.#death.promise]),
        )
        return result === undefined || !this.#isAlive ? never() : result
      }
    return changed(workbook, {
      open: timeless((...values) => workbook.open(...values)),
      write: timeless((...values) => workbook.write(...values)),
      abandon: timeless((...values) => workbook.abandon(...values)),
      prune: timeless((...values) => workbook.prune(...values)),
    })
  }

  async #journalStep(
    name: string,
    values: readonly unknown[],
    work: () => Promise<unknown>,
  ): Promise<unknown> {
    const { watch, time } = this.#options
    if (quietSteps.has(name)) {
      if (!this.#isAlive) return never()
      return this.#unlessDead(time.standStill(work))
    }
    if (this.#diesAt(`before ${name}`)) return never()
    await this.#mayBeStoppedAt(`before ${name}`)
    this.#failOnFullDisk(name)
    // The journal may take turns of the event loop, as when it reads a long backlog in slices.
    const result = await this.#unlessDead(time.standStill(work))
    if (isBatch(result)) watch?.seeBatch(result)
    if (name === 'frozen') this.#allowedAt = time.now
    if (name === 'settle') watch?.batchEnded(Number(values[0]), time.now)
    if (this.#diesAt(`after ${name}`)) return never()
    await this.#mayBeStoppedAt(`after ${name}`)
    return result
  }

  #failOnFullDisk(step: string): void {
    const { isFaulty, isDiskFull, dice, schedule, note } = this.#options
    if (!isDiskFull() && !(isFaulty() && dice.chance(schedule.chance.journal))) return
    note('journal fails', step)
    throw new JournalUnavailable('The disk is full')
  }

  /** The result of a step; nothing if the process was killed meanwhile. */
  async #unlessDead<T>(result: Promise<T>): Promise<T> {
    try {
      return await result
    } finally {
      if (!this.#isAlive) await never()
    }
  }

  /** Resolves when the process goes on. Most stops come after the last look into the journal. */
  async #mayBeStoppedAt(step: string): Promise<void> {
    const { isFaulty, dice, schedule, note, time, isAnyStopped } = this.#options
    const chance = schedule.chance.stop * (step === 'before a call' ? 5 : 1)
    if (!isFaulty() || intakeSteps.test(step) || !dice.chance(chance) || isAnyStopped()) return
    // While others prune markers, and before the access token runs out; or for any time.
    const [least, most] = dice.pick([
      [16, 58],
      [1, 300],
    ])
    this.pause(dice.between(least, most) * minute)
    note('stopped', step)
    await new Promise<void>((resolve) => this.after(this.#pausedUntil - time.now, resolve))
    note('goes on', step)
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

function isBatch(result: unknown): result is FrozenBatch {
  return typeof result === 'object' && result !== null && 'number' in result && 'tabs' in result
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

function never(): Promise<never> {
  return new Promise(() => {})
}
