import type { Millis } from '../../src/signup/signup.ts'
import { Network } from './simulated/network.ts'
import type { MachineAct } from './acts.ts'
import { createDice, type Dice } from './dice.ts'
import { drawSchedule } from './draw-schedule.ts'
import type { Schedule } from './schedule.ts'
import { SharedStore } from './simulated/shared-store.ts'
import { SimulatedDisk } from './simulated/simulated-disk.ts'
import { SimulatedGoogle } from './simulated/simulated-google.ts'
import { SimulatedProcess } from './simulated/simulated-process.ts'
import { SimulatedTime } from './simulated/simulated-time.ts'
import { Truth } from './truth.ts'
import { Visitors } from './visitors.ts'
import { WireWatch } from './simulated/wire-watch.ts'

const second = 1000
const minute = 60 * second
const wallStart = Date.UTC(2026, 10, 20, 10)
/** No correct run has as many events; a writer that loops without waiting does. */
const eventsMax = 200_000
/** A run ends when nothing was left to do for so long. */
const quietMs = 2 * minute
/** With a shared store: calls to it are long over, and the lease was renewed and looked for many times. */
const sharedQuietMs = 20 * second

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
  { trace, draw = drawSchedule }: Partial<Telling> = {},
): Promise<Result> {
  return await new World(seed, { trace, draw }).run()
}

export interface Telling {
  readonly trace: string[] | undefined
  /** Draws the schedule: any kind by default. */
  readonly draw: (dice: Dice) => Schedule
}

/** The whole simulation of one schedule: time, network, Google, disk and processes. */
class World {
  readonly #seed: number
  readonly #trace: string[] | undefined
  readonly #dice: Dice
  readonly #schedule: Schedule
  readonly #time = new SimulatedTime()
  readonly #truth: Truth
  readonly #watch: WireWatch
  readonly #google: SimulatedGoogle
  readonly #network: Network
  readonly #disk: SimulatedDisk
  readonly #store: SharedStore | undefined
  readonly #counts = new Map<string, number>()
  readonly #visitors: Visitors
  #processes: SimulatedProcess[] = []
  #jumped: Millis = 0
  #diskFullUntil: Millis = 0
  #crashingUntil: Millis = 0
  /** Since when nothing is left to do; undefined while something is. */
  #quietSince: Millis | undefined

  constructor(seed: number, { trace, draw }: Telling) {
    this.#seed = seed
    this.#trace = trace
    this.#dice = createDice(seed)
    this.#schedule = draw(this.#dice)
    const { quota, markersMax, chance, duplicates } = this.#schedule
    this.#truth = new Truth({
      perMinute: quota.perMinute,
      perDay: quota.perDay,
      markersMax,
      ignoresDuplicates: duplicates === 'ignore',
    })
    this.#watch = new WireWatch(this.#truth)
    this.#google = new SimulatedGoogle({
      truth: this.#truth,
      dice: this.#dice,
      now: () => this.#time.now,
      tokenLifeMs: this.#schedule.tokenLifeMs,
    })
    this.#network = new Network({
      time: this.#time,
      dice: this.#dice,
      google: this.#google,
      chance,
      isFaulty: () => this.#isFaulty,
      // Clocks of several machines differ a little, which takes from the margin of the quota.
      travelMaxMs: this.#schedule.store === 'shared' ? 800 : 900,
      note: (event, detail) => this.#note(event, detail),
    })
    this.#disk = new SimulatedDisk({
      dice: this.#dice,
      duplicates,
      onStored: ({ tab, email }) => this.#truth.accept(tab, email),
      note: (event) => this.#note(event),
    })
    if (this.#schedule.store === 'shared') {
      this.#store = new SharedStore({
        time: this.#time,
        dice: this.#dice,
        disk: this.#disk,
        chance,
        isFaulty: () => this.#isFaulty,
        note: (event, detail) => this.#note(event, detail),
      })
    }
    this.#visitors = new Visitors({
      time: this.#time,
      dice: this.#dice,
      truth: this.#truth,
      repeatAddresses: duplicates === 'ignore',
      findProcess: () => this.#processes[this.#dice.between(0, this.#processes.length - 1)],
      note: (event, detail) => this.#note(event, detail),
    })
  }

  async run(): Promise<Result> {
    const { people, machine, jumps, signups, faultsUntil, drainMs, writers } = this.#schedule
    for (const { at, what } of signups) this.#time.after(at, () => this.#visitors.arrive(what))
    for (const { at, what } of people) {
      this.#time.after(at, () => {
        const isDone = this.#google.people.act(what)
        this.#note(isDone ? `person: ${what}` : 'person hesitates', what)
      })
    }
    for (const { at, what } of machine) this.#time.after(at, () => this.#actOnMachine(what))
    for (const { at, what } of jumps) {
      this.#time.after(at, () => {
        if (!this.#visitors.clockJumps(what)) return
        this.#note('clock jumps', String(what))
        // Of a shared store only its own clock counts.
        if (this.#store && this.#dice.chance(0.5)) this.#jumped += what
        else this.#jump(what)
      })
    }
    this.#time.after(faultsUntil, () => {
      this.#note('faults end')
      this.#google.people.heal()
      this.#store?.goDown(0)
      for (const process of this.#processes) {
        process.cutOff(0)
        process.cutStore(0)
      }
    })
    for (let writer = 0; writer < writers; writer++) this.#startProcess()
    await this.#time.runUntil(faultsUntil + drainMs, () => this.#isOver)
    if (!this.#truth.violation) this.#checkEnd()
    for (const process of this.#processes) process.kill()
    const { violation } = this.#truth
    if (violation) this.#note('violation', violation)
    return { seed: this.#seed, violation, counts: this.#counts }
  }

  #jump(ms: Millis): void {
    if (this.#store) this.#store.jump(ms)
    else this.#jumped += ms
    if (ms <= 0) return
    this.#truth.setAhead()
    if (!this.#store) return
    // Instances hear of it one after the other, as if they started again.
    for (let times = 0; times < 2; times++) this.#truth.start(this.#time.now)
  }

  get #isFaulty(): boolean {
    return this.#time.now < this.#schedule.faultsUntil
  }

  get #isCrashing(): boolean {
    return this.#time.now < this.#crashingUntil
  }

  get #wall(): Millis {
    return Math.floor(wallStart + this.#time.now + this.#jumped)
  }

  /** Whether an invariant is broken, or all is done and nothing can happen any more. */
  get #isOver(): boolean {
    if (this.#time.events > eventsMax) this.#truth.violate('delivery does not come to rest')
    if (this.#truth.violation !== undefined) return true
    if (this.#isFaulty || !this.#isDone) this.#quietSince = undefined
    else this.#quietSince ??= this.#time.now
    return (
      this.#time.now - (this.#quietSince ?? Infinity) >= (this.#store ? sharedQuietMs : quietMs) &&
      this.#isSettled
    )
  }

  get #isDone(): boolean {
    const { rowsApplied, acceptedCount } = this.#truth
    return (
      rowsApplied === acceptedCount &&
      this.#network.underWay === 0 &&
      this.#processes.length === this.#schedule.writers &&
      this.#processes.every(({ isAwake, isBlocked }) => isAwake && !isBlocked)
    )
  }

  get #isSettled(): boolean {
    const { backlog, frozen } = this.#disk.unfinished()
    return backlog === 0 && frozen === 0
  }

  #checkEnd(): void {
    this.#google.people.check()
    const { rowsApplied, acceptedCount } = this.#truth
    if (rowsApplied !== acceptedCount || !this.#isSettled) {
      const left = JSON.stringify(this.#disk.unfinished())
      this.#truth.violate(
        `${rowsApplied} of ${acceptedCount} rows were written in the end, ${left}`,
      )
    }
    if (this.#processes.some(({ isBlocked }) => isBlocked)) {
      this.#truth.violate('delivery is reported as blocked and is not')
    }
    const delivering = this.#processes.filter(({ delivers }) => delivers).length
    if (this.#store && delivering !== 1) this.#truth.violate(`${delivering} instances deliver`)
  }

  #startProcess(): void {
    this.#note('start')
    this.#truth.start(this.#time.now)
    // Each machine has a clock of its own.
    const skew = this.#store ? this.#dice.between(-3000, 3000) : 0
    const process = new SimulatedProcess({
      time: this.#time,
      dice: this.#dice,
      truth: this.#truth,
      watch: this.#watch,
      network: this.#network,
      store: this.#store,
      connect: (user, clock) => this.#disk.open(user, clock),
      schedule: this.#schedule,
      wall: () => this.#wall + skew,
      isFaulty: () => this.#isFaulty,
      isDiskFull: () => this.#time.now < this.#diskFullUntil,
      isCrashing: () => this.#isCrashing,
      isAnyStopped: () => this.#processes.some(({ isAwake }) => !isAwake),
      note: (event, detail) => this.#note(event, detail),
      onDeath: () => this.#restart(process),
      onPowerCut: () => this.#cutPower(),
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
    const isDownLong = !this.#isCrashing && this.#dice.chance(0.2)
    const downMs = isDownLong
      ? this.#dice.between(0, 30) * minute
      : this.#dice.between(0, this.#isCrashing ? 3 * second : 20 * second)
    this.#time.after(downMs, () => this.#startProcess())
  }

  #cutPower(): void {
    const processes = this.#processes
    for (const process of processes) process.kill()
    for (const process of processes) this.#restart(process)
  }

  #actOnMachine(act: MachineAct): void {
    const process = this.#struckBy(act)
    this.#note(act)
    switch (act) {
      case 'kill':
        if (!process) return
        process.kill()
        return this.#restart(process)
      case 'crash loop':
        this.#crashingUntil = this.#time.now + this.#dice.between(10, 120) * second
        return
      case 'power cut':
        return this.#cutPower()
      case 'stop':
        return void process?.stop(10 * second).then(() => this.#restart(process))
      case 'pause':
        return process?.pause(this.#dice.between(1, this.#store ? 60 : 1200) * second)
      case 'cut off':
        return process?.cutOff(this.#dice.between(1, 40) * minute)
      case 'fill disk':
        this.#diskFullUntil = this.#time.now + this.#dice.between(1, 300) * second
        return
      case 'tokens run out':
        return this.#google.endTokens()
      case 'store down':
        return this.#store?.goDown(this.#dice.between(1, 40) * second)
      case 'store cut':
        return process?.cutStore(this.#dice.between(1, 60) * second)
    }
  }

  /** The process that something happens to: with a shared store, often the one that delivers. */
  #struckBy(act: MachineAct): SimulatedProcess | undefined {
    const [first] = this.#processes
    if (!this.#store || act === 'store down') return first
    const holder = this.#processes.find(({ delivers }) => delivers)
    if (holder && this.#dice.chance(0.6)) return holder
    return this.#processes[this.#dice.between(0, this.#processes.length - 1)]
  }

  #note(event: string, detail = ''): void {
    this.#counts.set(event, (this.#counts.get(event) ?? 0) + 1)
    this.#trace?.push(`${(this.#time.now / second).toFixed(3)} ${event} ${detail}`.trimEnd())
  }
}
