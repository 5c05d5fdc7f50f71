// @module-tag slow
import { expect, test } from 'vitest'
import { bootService } from '../../harness/boot-service.ts'
import { postBulk, postSignup } from '../../harness/post-signup.ts'
import { earnToken, fetchPuzzle, solve, tokenOf } from '../../harness/solve-puzzle.ts'
import { startService } from '../../harness/start-service.ts'
import { tempFolder } from '../../harness/temp-folder.ts'

const env = { CHALLENGE_PROVIDER: 'altcha' }
const ada = { email: 'ada@example.com' }
const bob = { email: 'bob@example.com' }

async function statusAndDetail(answer: Response): Promise<unknown> {
  const { detail } = (await answer.json()) as { detail?: string }
  return [answer.status, detail]
}

const invalid = [403, 'Invalid challenge token']

async function get(url: string, path: string): Promise<unknown> {
  return (await fetch(url + path)).json()
}

test('a solved puzzle admits one signup: as JSON, in the field of ALTCHA’s widget, or for a whole list', async () => {
  await using service = await bootService({ env })
  const { url } = service
  const json = await postSignup(url, { ...ada, challengeToken: await earnToken(url) })
  const form = await fetch(`${url}/api/signup`, {
    method: 'POST',
    body: new URLSearchParams({ ...bob, altcha: await earnToken(url) }),
  })
  const list = { signups: [ada, bob], challengeToken: await earnToken(url) }
  const bulk = await postBulk(url, list)
  expect([json.status, form.status, bulk.status]).toEqual([202, 202, 202])
})

test('a used solution is refused, however its token is written, and after a kill and a restart too', async () => {
  await using folder = await tempFolder()
  const options = { env, dataDir: folder.path }
  await using service = await startService(options)
  const solved = await solve(await fetchPuzzle(service.url))
  const first = await postSignup(service.url, { ...ada, challengeToken: tokenOf(solved) })
  expect(first.status).toBe(202)
  const written = [
    tokenOf(solved),
    tokenOf({ ...solved, solution: { ...solved.solution, time: 7 } }),
    tokenOf({ solution: solved.solution, challenge: solved.challenge, more: true }),
    btoa(JSON.stringify(solved, undefined, 2)),
    tokenOf(solved).replaceAll('=', ''),
  ]
  const refuseAll = async (url: string) => {
    for (const challengeToken of written) {
      expect(await statusAndDetail(await postSignup(url, { ...bob, challengeToken }))).toEqual(
        invalid,
      )
    }
  }
  await refuseAll(service.url)
  const unused = await earnToken(service.url)
  await service.kill()
  await using again = await startService(options)
  await refuseAll(again.url)
  // The keys are those of before.
  expect((await postSignup(again.url, { ...bob, challengeToken: unused })).status).toBe(202)
})

test('each site has puzzles of its own, and one without a proof of work has none', async () => {
  const sites = {
    launch: { challenge: { provider: 'altcha' } },
    club: { challenge: { provider: 'altcha' } },
    open: {},
  }
  await using service = await bootService({ env: { ROLLCALL_CONFIG: JSON.stringify({ sites }) } })
  const { url } = service
  expect(await get(url, '/api/config?site=club')).toMatchObject({
    challengeUrl: '/api/challenge?site=club',
  })
  const challengeToken = await earnToken(url, '?site=launch')
  const signUp = (site: string) => postSignup(url, { ...ada, site, challengeToken })
  expect(await statusAndDetail(await signUp('club'))).toEqual(invalid)
  expect((await signUp('launch')).status).toBe(202)
  expect(await statusAndDetail(await fetch(`${url}/api/challenge?site=open`))).toEqual([
    404,
    'This site has no proof of work, so there is no puzzle to solve.',
  ])
  expect((await fetch(`${url}/api/challenge?site=nowhere`)).status).toBe(422)
  expect((await fetch(`${url}/api/challenge`)).status).toBe(422)
})

test('an address gets ten puzzles for each signup that it may send in a minute, and others still get theirs', async () => {
  const limited = { ...env, RATE_LIMIT_PER_MINUTE: '2', TRUST_PROXY: '1' }
  await using service = await bootService({ env: limited })
  const ask = (address: string) =>
    fetch(`${service.url}/api/challenge`, { headers: { 'x-forwarded-for': address } })
  const answers = await Promise.all(Array.from({ length: 30 }, () => ask('192.0.2.1')))
  const given = answers.filter(({ status }) => status === 200)
  expect(given).toHaveLength(20)
  expect(given[0]?.headers.get('ratelimit-policy')).toBe('"puzzles";q=20;w=60')
  const refused = answers.find(({ status }) => status !== 200)
  expect(refused?.status).toBe(429)
  expect(refused?.headers.get('retry-after')).toMatch(/^\d+$/)
  expect((await ask('192.0.2.2')).status).toBe(200)
  const token = tokenOf(
    await solve((await given[0]?.json()) as Awaited<ReturnType<typeof fetchPuzzle>>),
  )
  const from = { 'x-forwarded-for': '192.0.2.1' }
  const taken = await postSignup(service.url, { ...ada, challengeToken: token }, from)
  expect(taken.status).toBe(202)
})

test('the log has neither tokens nor keys, and counts what was refused', async () => {
  await using service = await startService({
    env: { ...env, LOG_LEVEL: 'trace', METRICS_TOKEN: 'a-token-for-metrics' },
  })
  const solved = await solve(await fetchPuzzle(service.url))
  const { parameters, signature = '' } = solved.challenge
  const challengeToken = tokenOf(solved)
  await postSignup(service.url, { ...ada, challengeToken })
  await postSignup(service.url, { ...ada, challengeToken })
  await postSignup(service.url, {
    ...ada,
    challengeToken: tokenOf({
      challenge: { parameters, signature: '0'.repeat(64) },
      solution: solved.solution,
    }),
  })
  const metrics = await fetch(`${service.url}/metrics`, {
    headers: { authorization: 'Bearer a-token-for-metrics' },
  })
  const text = await metrics.text()
  expect(text).toMatch(/rollcall_challenge_verdicts_total\{[^}]*verdict="passed"[^}]*\} 2/)
  expect(text).toMatch(/rollcall_challenge_verdicts_total\{[^}]*verdict="rejected"[^}]*\} 1/)
  await service.stop()
  expect(service.output()).toContain('the puzzle is forged or of another site')
  for (const hidden of [challengeToken, signature, parameters.nonce, solved.solution.derivedKey]) {
    expect(service.output()).not.toContain(hidden)
  }
})
