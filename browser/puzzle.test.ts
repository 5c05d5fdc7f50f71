import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  type Challenge as Puzzle,
  createChallenge,
  HmacAlgorithm,
  verifySolution,
} from 'altcha-lib'
import { deriveKey } from 'altcha-lib/algorithms/pbkdf2'
import { expect, onTestFinished, test } from 'vitest'
import type { ChallengeSetup } from './challenge.ts'
import { showChallenge } from './puzzle.ts'

const secret = 'of the tests'
const options = {
  algorithm: 'PBKDF2/SHA-256',
  cost: 100,
  deriveKey,
  hmacAlgorithm: HmacAlgorithm.SHA_256,
  hmacSignatureSecret: secret,
  hmacKeySignatureSecret: secret,
}

const makePuzzle = (counter: number, lifeSeconds = 300): Promise<Puzzle> =>
  createChallenge({ ...options, counter, expiresAt: Math.floor(Date.now() / 1000) + lifeSeconds })

/** A form of a service that answers `GET /api/challenge` so. */
async function formOf(answer: () => Promise<{ readonly status?: number; readonly json: unknown }>) {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(request.url ?? '')
    void answer().then(({ status = 200, json }) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(json)),
    )
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  onTestFinished(() => {
    server.close().closeAllConnections()
  })
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/signup?site=launch`
  const challenge = await showChallenge({ endpoint } as ChallengeSetup)
  const waits: string[] = []
  return { asked, waits, ...challenge, token: () => challenge.token((why) => waits.push(why)) }
}

type Payload = Pick<Parameters<typeof verifySolution>[0], 'challenge' | 'solution'>
const read = (token = '') => JSON.parse(atob(token)) as Payload

test.each([0, 1, 6, 300])(
  "a puzzle whose counter is %i is solved as ALTCHA's library verifies it",
  async (counter) => {
    const puzzle = await makePuzzle(counter)
    const form = await formOf(async () => ({ json: puzzle }))
    const { challenge, solution } = read(await form.token())
    expect(challenge).toEqual(puzzle)
    expect(solution).toEqual({
      counter,
      derivedKey: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
      time: expect.any(Number) as number,
    })
    const verified = await verifySolution({ ...options, challenge, solution })
    expect(verified).toMatchObject({ verified: true })
    // Without the signature of the key, the library derives the key anew.
    const { keySignature, ...parameters } = challenge.parameters
    expect(keySignature).toBeDefined()
    const { derivedKey } = await deriveKey(
      parameters,
      Buffer.from(parameters.salt, 'hex'),
      Buffer.from(`${parameters.nonce}${counter.toString(16).padStart(8, '0')}`, 'hex'),
    )
    expect(solution.derivedKey).toBe(Buffer.from(derivedKey).toString('hex'))
  },
)

test('a puzzle is asked for once for its site, before the token is, and a second call gives the same token', async () => {
  const form = await formOf(async () => ({ json: await makePuzzle(50) }))
  form.begin?.()
  const [first, second] = await Promise.all([form.token(), form.token()])
  expect(second).toBe(first)
  form.begin?.()
  expect(await form.token()).toBe(first)
  expect(form.asked).toEqual(['/api/challenge?site=launch'])
  // There is no box that they could tick.
  expect(form.waits).toEqual([])
})

test('after an answer, the next token is the solution of another puzzle', async () => {
  const form = await formOf(async () => ({ json: await makePuzzle(3) }))
  const first = await form.token()
  form.reset()
  expect(await form.token()).not.toBe(first)
  expect(form.asked).toHaveLength(2)
})

test('a puzzle whose life is over is solved anew when the token is asked for', async () => {
  const form = await formOf(async () => ({ json: await makePuzzle(3, 2) }))
  const first = await form.token()
  await expect.poll(() => form.token()).not.toBe(first)
})

test.each([
  ['hours behind', 5 * 3600],
  ['hours ahead', -5 * 3600],
])("a visitor's clock that is %s makes no puzzle useless", async (_, shiftSeconds) => {
  const form = await formOf(async () => ({ json: await makePuzzle(3, shiftSeconds) }))
  const first = await form.token()
  expect(await form.token()).toBe(first)
  expect(form.asked).toHaveLength(1)
})

test('a failure of the service that may pass is no reason to give up, and a refusal is one', async () => {
  let status = 503
  const form = await formOf(async () => ({ status, json: {} }))
  await expect(form.token()).rejects.not.toHaveProperty('reason')
  status = 404
  await expect(form.token()).rejects.toMatchObject({ reason: 'checkFailed', status: 404 })
})

test('a puzzle of an algorithm that we do not know is refused', async () => {
  const { parameters, signature } = await makePuzzle(1)
  const json = { parameters: { ...parameters, algorithm: 'SCRYPT' }, signature }
  const form = await formOf(async () => ({ json }))
  await expect(form.token()).rejects.toMatchObject({ reason: 'checkFailed' })
})

test('a form that is removed stops to solve', async () => {
  const form = await formOf(async () => ({ json: await makePuzzle(4_000_000_000) }))
  const token = form.token()
  await expect.poll(() => form.asked).toHaveLength(1)
  form.remove()
  await expect(token).rejects.toMatchObject({ reason: 'checkFailed' })
})
