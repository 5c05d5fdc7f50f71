import { type Challenge, solveChallenge } from 'altcha-lib'
import { deriveKey } from 'altcha-lib/algorithms/pbkdf2'
import type { Payload } from 'altcha-lib/types'

/** Asks a service for a puzzle. Rejects when it gives none. */
export async function fetchPuzzle(
  url: string,
  { query = '', headers = {} }: { query?: string; headers?: Record<string, string> } = {},
): Promise<Challenge> {
  const answer = await fetch(`${url}/api/challenge${query}`, { headers })
  if (answer.status !== 200) throw new Error(`a puzzle was answered ${answer.status}`)
  return (await answer.json()) as Challenge
}

/** Solves a puzzle with ALTCHA's own library. Takes half a second. */
export async function solve(challenge: Challenge): Promise<Payload> {
  const solution = await solveChallenge({ challenge, deriveKey })
  if (!solution) throw new Error('the puzzle has no solution')
  return { challenge, solution }
}

/** The token of a solution, as ALTCHA's widget sends it. */
export function tokenOf(payload: object): string {
  return btoa(JSON.stringify(payload))
}

/** Asks a service for a puzzle and solves it. */
export async function earnToken(url: string, query = ''): Promise<string> {
  return tokenOf(await solve(await fetchPuzzle(url, { query })))
}
