import { DatabaseSync } from 'node:sqlite'
import { threadId } from 'node:worker_threads'

import type { Journal } from '../../src/journal/journal.ts'
import { openSqliteJournal } from '../../src/journal/sqlite/sqlite-journal.ts'
import type { Clock } from '../../src/platform/clock.ts'
import type { Millis } from '../../src/signup/signup.ts'
import { makeSignup } from './make-signup.ts'
import { Network } from './network.ts'
import { createDice, type Dice, drawSchedule, type MachineAct, type Schedule } from './schedule.ts'
import { SimulatedGoogle } from './simulated-google.ts'
import { type Flaw, SimulatedProcess } from './simulated-process.ts'
import { SimulatedTime } from './simulated-time.ts'
import { Truth } from './truth.ts'

const second = 1000
const minute = 60 * second
const wallStart = Date.UTC(2026, 10, 20, 10)
/** No correct run has as many events; a writer that loops without waiting does. */
const eventsMax = 100_000

/** The result of a run. */
export interface Result {
  readonly seed: number
  /** The first invariant that did not hold. */
  readonly violation: string | undefined
  /** How often each event happened. */
  readonly counts: ReadonlyMap<string, number>
}

/** Runs the schedule of a seed. The same seed gives the same trace, line for line. */
export async function runSchedule(
  seed: number,
  { flaw = {}, trace, draw = drawSchedule }: Partial<Telling> = {},
): Promise<Result> {
  await using world = new World(seed, { flaw, trace, draw })
  return await world.run()
}

export interface Telling {
  readonly flaw: Flaw
  readonly trace: string[] | undefined
  /** Draws the schedule: any kind by default. */
  readonly draw: (dice: Dice) => Schedule
}

/** The whole simulation of one schedule: time, network, Google, disk and processes. */
class World implements AsyncDisposable {
  readonly #seed: number
  readonly #flaw: Flaw
  readonly #trace: string[] | undefined
  readonly #dice: Dice
  readonly #schedule: Schedule
  readonly #time = new SimulatedTime()
  readonly #truth: Truth
  readonly #google: SimulatedGoogle
  readonly #network: Network
  readonly #disk: SimulatedDisk
  readonly #counts = new Map<string, number>()
  #journal: Journal
  #processes: SimulatedProcess[] = []
  #jumped: Millis = 0
  /** How many processes started since the wall clock was first set ahead. */
  #startsAhead: number | undefined
  #diskFullUntil: Millis = 0
  #names = 0

  constructor(seed: number, { flaw, trace, draw }: Telling) {
    this.#seed = seed
    this.#flaw = flaw
    this.#trace = trace
    this.#dice = createDice(seed)
    this.#schedule = draw(this.#dice)
    const { quota, markersMax, chance, jumps } = this.#schedule
    this.#truth = new Truth({
      perMinute: quota.perMinute,
      // Across restarts the wall clock measures the day (see CallLedger), so the quota may be exceeded then.
      perDay: jumps.some(({ what }) => what > 0) ? Infinity : quota.perDay,
      markersMax,
    })
    this.#google = new SimulatedGoogle({
      truth: this.#truth,
      dice: this.#dice,
      now: () => this.#time.now,
      writers: this.#schedule.writers,
      tokenLifeMs: this.#schedule.tokenLifeMs,
      onOldLayout: () => this.#note('old layout'),
    })
    this.#network = new Network({
      time: this.#time,
      dice: this.#dice,
      google: this.#google,
      chance,
      isFaulty: () => this.#isFaulty,
      travelMaxMs: 900,
      note: (event, detail) => this.#note(event, detail),
    })
    this.#disk = new SimulatedDisk(this.#time.clock)
    this.#journal = this.#disk.open()
  }

  async run(): Promise<Result> {
    const { people, machine, jumps, signups, faultsUntil, drainMs, writers } = this.#schedule
    for (const { at, what } of signups) this.#time.after(at, () => this.#signUp(what))
    for (const { at, what } of people) {
      this.#time.after(at, () => {
        const isDone = this.#google.people.act(what)
        this.#note(isDone ? `person: ${what}` : 'person hesitates', what)
      })
    }
    for (const { at, what } of machine) this.#time.after(at, () => this.#actOnMachine(what))
    for (const { at, what } of jumps) {
      this.#time.after(at, () => {
        this.#note('clock jumps', String(what))
        this.#jumped += what
        if (what > 0) this.#startsAhead ??= 0
      })
    }
    this.#time.after(faultsUntil, () => {
      this.#note('faults end')
      this.#google.people.heal()
      for (const process of this.#processes) process.cutOff(0)
    })
    for (let writer = 0; writer < writers; writer++) this.#startProcess()
    await this.#time.runUntil(faultsUntil + drainMs, () => this.#isOver)
    if (!this.#truth.violation) await this.#checkEnd()
    const { violation } = this.#truth
    if (violation) this.#note('violation', violation)
    return { seed: this.#seed, violation, counts: this.#counts }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const process of this.#processes) process.kill()
    await this.#disk[Symbol.asyncDispose]()
  }

  get #isFaulty(): boolean {
    return this.#time.now < this.#schedule.faultsUntil
  }

  /** Whether an invariant is broken. */
  get #isOver(): boolean {
    if (this.#time.events > eventsMax) this.#truth.violate('delivery does not come to rest')
    return this.#truth.violation !== undefined
  }

  async #checkEnd(): Promise<void> {
    const backlog = await this.#journal.reader.backlog()
    const frozen = await this.#journal.delivery.frozenBatch()
    const { rowsApplied, acceptedCount } = this.#truth
    if (rowsApplied !== acceptedCount || backlog > 0 || frozen) {
      this.#truth.violate(
        `${rowsApplied} of ${acceptedCount} rows were written in the end, backlog ${backlog}`,
      )
    }
    if (this.#processes.some(({ isBlocked }) => isBlocked)) {
      this.#truth.violate('delivery is reported as blocked and is not')
    }
    this.#google.people.check()
  }

  #signUp(tab: string): void {
    const process = this.#processes.find(({ isAlive }) => isAlive)
    // No process runs: the visitor comes again later.
    if (!process) return void this.#time.after(5 * second, () => this.#signUp(tab))
    const name = (this.#names += 1)
    const signup = makeSignup(name, tab, wallStart + this.#time.now)
    if (this.#time.now < this.#diskFullUntil) return
    void this.#journal.intake.append([signup]).then(() => {
      this.#note('accepted', `${signup.email} for ${tab}`)
      this.#truth.accept(tab, signup.email)
    })
  }

  #startProcess(): void {
    this.#note('start')
    // CallLedger says what is promised when the wall clock is set.
    if (this.#startsAhead !== undefined && (this.#startsAhead += 1) > 1) this.#truth.excuseMinute()
    const process = new SimulatedProcess({
      time: this.#time,
      dice: this.#dice,
      truth: this.#truth,
      network: this.#network,
      journal: this.#journal,
      schedule: this.#schedule,
      flaw: this.#flaw,
      wall: () => Math.floor(wallStart + this.#time.now + this.#jumped),
      isFaulty: () => this.#isFaulty,
      isDiskFull: () => this.#time.now < this.#diskFullUntil,
      note: (event, detail) => this.#note(event, detail),
      onDeath: () => this.#restart(process),
    })
    this.#processes.push(process)
    process.start().catch(() => {
      this.#note('could not start')
      process.kill()
      this.#restart(process)
    })
  }

  /** Starts another process in place of a dead one, as a supervisor does, with the same disk. */
  #restart(dead: SimulatedProcess): void {
    // A process that is killed while it stops is replaced once.
    if (!this.#processes.includes(dead)) return
    this.#processes = this.#processes.filter((process) => process !== dead)
    const downMs = this.#dice.chance(0.2)
      ? this.#dice.between(0, 30) * minute
      : this.#dice.between(0, 20 * second)
    this.#time.after(downMs, () => {
      // Two writers share one journal, as several instances share a database. Opening a journal is slow,
      // and it keeps next to nothing in memory, so only some starts open it again.
      if (this.#schedule.writers === 1 && this.#dice.chance(0.3)) {
        this.#journal = this.#disk.open()
      }
      this.#startProcess()
    })
  }

  #actOnMachine(act: MachineAct): void {
    const [process] = this.#processes
    this.#note(act)
    switch (act) {
      case 'kill':
        if (!process) return
        process.kill()
        return this.#restart(process)
      case 'stop':
        return void process?.stop(10 * second).then(() => this.#restart(process))
      case 'pause':
        return process?.pause(this.#dice.between(1, 1200) * second)
      case 'cut off':
        return process?.cutOff(this.#dice.between(1, 40) * minute)
      case 'fill disk':
        this.#diskFullUntil = this.#time.now + this.#dice.between(1, 300) * second
        return
      case 'tokens run out':
        return this.#google.endTokens()
    }
  }

  #note(event: string, detail = ''): void {
    this.#counts.set(event, (this.#counts.get(event) ?? 0) + 1)
    this.#trace?.push(`${(this.#time.now / second).toFixed(3)} ${event} ${detail}`.trimEnd())
  }
}

/** A database in memory that outlives the processes. The next simulation uses it again, emptied. */
class SimulatedDisk implements AsyncDisposable {
  readonly #open: Journal[] = []

  readonly #clock: Pick<Clock, 'elapsed' | 'sleep'>

  constructor(clock: Pick<Clock, 'elapsed' | 'sleep'>) {
    this.#clock = clock
    const tables = held.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all()
    held.exec(tables.map(({ name }) => `DELETE FROM ${String(name)};`).join(''))
  }

  open(): Journal {
    const journal = openSqliteJournal(uri, {}, { clock: this.#clock })
    this.#open.push(journal)
    return journal
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const journal of this.#open) await journal[Symbol.asyncDispose]()
  }
}

/** Each worker thread has a database of its own. */
const uri = `file:simulation-${threadId}?mode=memory&cache=shared`
const held = new DatabaseSync(uri, { enableForeignKeyConstraints: false })
