import { expect, test } from 'vitest'
import { createDatabaseWorld } from '../../harness/database-world.ts'
import { postSignup } from '../../harness/post-signup.ts'
import { startPostgres } from '../../harness/postgres-server.ts'
import { fetchPuzzle, solve, tokenOf } from '../../harness/solve-puzzle.ts'
import { startService } from '../../harness/start-service.ts'

test('a puzzle of one instance is solved for another, which shares its keys, and is used up on both', async () => {
  await using server = await startPostgres()
  await using world = await createDatabaseWorld(server)
  const env = { ...world.env, CHALLENGE_PROVIDER: 'altcha' }
  await using one = await startService({ env })
  await using other = await startService({ env })
  const solved = await solve(await fetchPuzzle(one.url))
  const signUp = async (url: string, payload: object) => {
    const signup = { email: 'ada@example.com', challengeToken: tokenOf(payload) }
    return (await postSignup(url, signup)).status
  }
  expect(await signUp(other.url, solved)).toBe(202)
  expect(await signUp(one.url, { ...solved, more: 1 })).toBe(403)
  expect(await signUp(other.url, solved)).toBe(403)
})
