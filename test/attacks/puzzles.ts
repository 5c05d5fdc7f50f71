import { setTimeout as sleep } from 'node:timers/promises'
import { postSignup } from '../../harness/post-signup.ts'
import { earnToken, fetchPuzzle, solve, tokenOf } from '../../harness/solve-puzzle.ts'
import type { Attack } from './carry-out.ts'

const email = 'ada@example.com'
const attacker = { 'x-forwarded-for': '192.0.2.1' }
const other = { 'x-forwarded-for': '192.0.2.2' }
/** More than one address may have made at the same time. */
const atOnce = 100
const lifeMs = 5 * 60_000

export const puzzles: Attack = {
  what: 'One client asks for puzzles without end, and sends solutions that are used, forged, expired or of another site.',
  settings: async () => {
    const challenge = { provider: 'altcha' }
    const sites = { default: {}, guarded: { challenge }, beside: { challenge } }
    return {
      TRUST_PROXY: '1',
      RATE_LIMIT_PER_MINUTE: '0',
      ROLLCALL_CONFIG: JSON.stringify({ sites }),
    }
  },
  run: async ({ url }, size) => {
    const old = await earnToken(url, '?site=guarded')
    const oldSince = Date.now()
    await askWithoutEnd(url, size === 'small' ? 20 : 500)
    const solved = await solve(await fetchPuzzle(url, { query: '?site=guarded' }))
    const send = async (payload: object | string) => {
      const challengeToken = typeof payload === 'string' ? payload : tokenOf(payload)
      const body = { email, site: 'guarded', challengeToken }
      return (await postSignup(url, body, attacker)).status
    }
    const refuse = async (what: string, payload: object | string) => {
      const status = await send(payload)
      if (status !== 403) throw new Error(`a solution that was ${what} was answered ${status}`)
    }
    const { challenge, solution } = solved
    const forged = { ...challenge, parameters: { ...challenge.parameters, cost: 1 } }
    await refuse('forged', { challenge: forged, solution })
    await refuse('guessed', { challenge, solution: { ...solution, derivedKey: '0'.repeat(64) } })
    await refuse('of another site', await earnToken(url, '?site=beside'))
    const all = Array.from({ length: size === 'small' ? 50 : 2_000 }, (_, time) => ({
      challenge,
      solution: { ...solution, time },
    }))
    const statuses = await Promise.all(all.map(send))
    const taken = statuses.filter((status) => status === 202).length
    const refused = statuses.filter((status) => status === 403).length
    if (taken !== 1 || refused !== all.length - 1) {
      throw new Error(`one solution was taken ${taken} times and refused ${refused} times`)
    }
    if (size === 'small') return
    await sleep(oldSince + lifeMs + 1_000 - Date.now())
    await refuse('expired', old)
  },
}

/** Rejects when another client does not get its puzzles meanwhile. */
async function askWithoutEnd(url: string, rounds: number): Promise<void> {
  const query = '?site=guarded'
  let asking = atOnce
  const asker = async () => {
    for (let round = 0; round < rounds; round++) {
      const answer = await fetch(`${url}/api/challenge${query}`, { headers: attacker })
      await answer.arrayBuffer()
      if (answer.status !== 200 && answer.status !== 503) {
        throw new Error(`a puzzle was answered ${answer.status}`)
      }
    }
    asking -= 1
  }
  const visitor = async () => {
    while (asking > 0) await fetchPuzzle(url, { query, headers: other })
  }
  await Promise.all([...Array.from({ length: atOnce }, asker), visitor()])
}
