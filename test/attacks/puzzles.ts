import { postSignup } from '../../harness/post-signup.ts'
import { fetchPuzzle, solve, tokenOf } from '../../harness/solve-puzzle.ts'
import type { Attack } from './carry-out.ts'

const email = 'ada@example.com'
const attacker = { 'x-forwarded-for': '192.0.2.1' }
const other = { 'x-forwarded-for': '192.0.2.2' }
/** More than one address may have made at the same time. */
const atOnce = 100
const query = '?site=guarded'

export const puzzles: Attack = {
  what: 'One client asks for puzzles without end, and sends one solution again and again.',
  settings: async () => ({
    TRUST_PROXY: '1',
    RATE_LIMIT_PER_MINUTE: '0',
    ROLLCALL_CONFIG: '{"sites":{"default":{},"guarded":{"challenge":{"provider":"altcha"}}}}',
  }),
  run: async ({ url }, size) => {
    await askWithoutEnd(url, size === 'small' ? 20 : 500)
    const { challenge, solution } = await solve(await fetchPuzzle(url, { query }))
    const send = async (payload: object) => {
      const body = { email, site: 'guarded', challengeToken: tokenOf(payload) }
      return (await postSignup(url, body, attacker)).status
    }
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
  },
}

/** Rejects when another client does not get its puzzles meanwhile. */
async function askWithoutEnd(url: string, rounds: number): Promise<void> {
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
