import { algorithm, keyOf, type Puzzle } from '../src/challenge/puzzle.ts'
import type { Challenge, ChallengeSetup } from './challenge.ts'
import { ask, mayPass } from './service.ts'
import { tell } from './tell.ts'
import { Told } from './told.ts'

interface Solved {
  readonly token: string
  /** In milliseconds since 1970 by the visitor's clock. */
  readonly goodUntil: number
}

const lifeMaxMs = 300_000
/** A token has to arrive while it is good. */
const usedPart = 0.9
const solveMaxMs = 120_000
/** How many keys are asked for at once. Firefox makes them on several cores, Chromium one after the other. */
const lanes = 4

/**
 * Solves puzzles while the visitor types. There is nothing to see and nothing to click.
 *
 * @throws Told when the page came without HTTPS, so that the browser has no `crypto.subtle`
 */
export async function showChallenge({ endpoint }: ChallengeSetup): Promise<Challenge> {
  if (!('subtle' in crypto)) {
    tell('this page needs HTTPS: browsers solve no proof of work for a page of http://.')
    throw new Told('insecure')
  }
  const life = new AbortController()
  let solving: Promise<Solved> | undefined
  let solved: Solved | undefined
  const current = () => (solved && Date.now() < solved.goodUntil ? solved : undefined)
  const solve = () =>
    (solving ??= solvePuzzle(endpoint, life.signal)
      .then((it) => (solved = it))
      .finally(() => (solving = undefined)))
  const begin = () => {
    // Sending the form tries again and shows the failure.
    if (!current()) solve().catch(String)
  }
  begin()
  return {
    begin,
    // There is no box to tick, so a visitor who waits is told nothing but that the form is sent.
    token: async () => (current() ?? (await solve())).token,
    reset: () => (solved = undefined),
    remove: () => life.abort(),
  }
}

async function solvePuzzle(endpoint: string, signal: AbortSignal): Promise<Solved> {
  const askedAt = Date.now()
  const answer = await ask(endpoint, 'challenge')
  const { status } = answer
  if (!answer.ok) {
    throw mayPass(status) ? new Error(`no puzzle: ${status}`) : new Told('checkFailed', status)
  }
  const { parameters, signature } = (await answer.json()) as Puzzle
  // A visitor's clock may be wrong by hours.
  const toldMs = parameters.expiresAt * 1000 - askedAt
  const lifeMs = toldMs > 0 && toldMs < lifeMaxMs ? toldMs : lifeMaxMs
  const solution = await search(parameters, signal)
  const token = btoa(JSON.stringify({ challenge: { parameters, signature }, solution }))
  return { token, goodUntil: askedAt + lifeMs * usedPart }
}

/** Tries counters from 0 on. The browser makes the keys beside the page's own thread. */
async function search(
  parameters: Puzzle['parameters'],
  signal: AbortSignal,
): Promise<{ readonly counter: number; readonly derivedKey: string; readonly time: number }> {
  if (parameters.algorithm !== algorithm) throw new Told('checkFailed')
  const begunAt = performance.now()
  const time = () => Math.round(performance.now() - begunAt)
  let next = 0
  let found: { readonly counter: number; readonly derivedKey: string } | undefined
  const lane = async () => {
    while (!found && !signal.aborted && time() < solveMaxMs) {
      const counter = next++
      const derivedKey = await keyOf(counter, parameters)
      if (derivedKey.startsWith(parameters.keyPrefix)) found = { counter, derivedKey }
    }
  }
  await Promise.all(Array.from({ length: lanes }, lane))
  if (!found) throw new Told('checkFailed')
  return { ...found, time: time() }
}
