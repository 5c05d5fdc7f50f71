import { expect, vi } from 'vitest'

import { createDice } from '../../simulation/dice.ts'
import { acts } from './acts.ts'
import { check } from './check.ts'
import * as model from './model.ts'
import { people, type Faults, type Store, World } from './world.ts'

interface Act extends Faults {
  readonly name: string
  readonly email: string
  readonly pick: number
}

/** A sequence of random acts, under a random policy. */
interface Sequence {
  readonly policy: model.Model['policy']
  readonly acts: readonly Act[]
}

interface Options {
  readonly sequences: number
  readonly each: number
  readonly seed?: number
  readonly killed?: Set<string>
}

const often = ['append', 'ask', 'mail', 'confirm', 'freeze', 'settle']
/** For how long a smaller sequence is looked for that shows a violation. */
const shrinkMs = 60_000

/**
 * Applies random acts to journals and to the model of each, and compares all that they tell. With `SIMULATION_SEED` and
 * `SIMULATION_RUNS` it repeats a sequence, or makes many.
 *
 * @param options.seed of the first sequence; one of this moment when it is left out
 * @param options.killed gets the names of the acts that were killed
 */
export async function expectAllHold(
  createStore: () => Promise<Store>,
  { sequences, each, seed, killed }: Options,
): Promise<void> {
  const { SIMULATION_SEED, SIMULATION_RUNS } = process.env
  const first = Number(SIMULATION_SEED ?? seed ?? Date.now() % 1_000_000_000)
  const runs = Number(SIMULATION_RUNS ?? sequences)
  const length = SIMULATION_RUNS === undefined ? each : 40
  console.log(`journal: ${runs} sequences of acts from seed ${first}`)
  vi.useFakeTimers({ toFake: ['Date'] })
  try {
    for (let next = first; next < first + runs; next++) {
      const sequence = draw(next, length)
      const violation = await violationOf(createStore, sequence, killed)
      if (!violation) continue
      const { acts, error } = await shrunk(createStore, sequence, violation)
      const told = [sequence.policy, ...acts].map((it) => JSON.stringify(it)).join('\n')
      throw new Error(`From seed ${next}: ${error.message}\n${told}`, { cause: error })
    }
  } finally {
    vi.useRealTimers()
  }
}

function draw(seed: number, length: number): Sequence {
  const { chance, between, random } = createDice(seed)
  const oneOf = (some: readonly string[]) => some[Math.floor(random() * some.length)] ?? ''
  const act = () => ({
    name: oneOf([...Object.keys(acts), ...often]),
    email: oneOf(people),
    pick: between(0, 11),
    killedIn: chance(0.25) ? between(1, 3) : 0,
    isTwice: chance(0.3),
  })
  const policy = {
    ignoresDuplicates: chance(0.5),
    holdsSuspects: chance(0.5),
    welcomes: chance(0.5),
  }
  return { policy, acts: Array.from({ length }, act) }
}

/** What goes wrong, and the acts up to there. */
interface Violation {
  readonly acts: readonly Act[]
  readonly error: Error
}

async function violationOf(
  createStore: () => Promise<Store>,
  { policy, acts }: Sequence,
  killed?: Set<string>,
): Promise<Violation | undefined> {
  await using store = await createStore()
  await using world = new World(store, policy)
  await world.open()
  for (let done = 0; done <= acts.length; done++) {
    const act = acts[done]
    const { kills } = world
    try {
      await (act ? run(world, act) : end(world))
    } catch (error) {
      return { acts: acts.slice(0, done + 1), error: error as Error }
    }
    if (act && world.kills > kills) killed?.add(act.name)
  }
  return undefined
}

/** The smallest part of a sequence that still shows a violation. */
async function shrunk(
  createStore: () => Promise<Store>,
  { policy }: Sequence,
  found: Violation,
): Promise<Violation> {
  const end = performance.now() + shrinkMs
  let least = found
  for (let size = found.acts.length; size >= 1; size = Math.floor(size / 2))
    for (let at = 0; at < least.acts.length && performance.now() < end;) {
      const acts = least.acts.toSpliced(at, size)
      const violation = await violationOf(createStore, { policy, acts })
      if (violation) least = violation
      else at += size
    }
  return least
}

async function run(world: World, { name, email, pick, ...faults }: Act): Promise<void> {
  world.pass(1_000)
  world.faults = faults
  await acts[name]?.(world, email, pick)
  await check(world)
}

/** Ends all that goes on, and looks what the spreadsheet and the webhooks have then. */
async function end(world: World): Promise<void> {
  const last = ['settle', 'freeze', 'settle', 'backfill', 'freeze', 'settle', 'remove', 'tell']
  for (const name of last)
    await run(world, { name, email: '', pick: 0, killedIn: 0, isTwice: false })
  for (const one of world.model.ones) {
    const { id, email } = one.signup
    const rows = world.rows.filter((row) => row.id === id).length
    const isDue = one.state === 'wanted' && one.cells === 'kept'
    if (one.cells === 'old' || one.cells === 'lost') expect(rows, email).toBeLessThan(2)
    else expect(rows, `rows of ${email}`).toBe(isDue ? 1 : 0)
    const tells = (type: string) => world.told.has(`signup.${type} ${id}`)
    if (model.isTold(one)) expect(tells('accepted'), `${email} is told`).toBe(true)
    if (one.cells === 'erased' && tells('accepted'))
      expect(tells('erased'), `${email} is erased`).toBe(true)
  }
}
