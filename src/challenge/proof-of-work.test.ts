import { createChallenge, solveChallenge, verifySolution } from 'altcha-lib'
import { deriveKey } from 'altcha-lib/algorithms/pbkdf2'
import { describe, expect, test } from 'vitest'

import type { Puzzle } from './puzzle.ts'
import { createProofOfWork, work } from './proof-of-work.ts'

/** ALTCHA's library takes keys as text. */
const keys = {
  puzzle: 'the-key-of-the-puzzles-of-a-site',
  solution: 'and-the-key-of-its-own-solutions',
}
const now = Date.now()

function proofAt(millis: number, { puzzle, solution } = keys) {
  const keyFor = (use: string) =>
    new TextEncoder().encode(use === 'proof of work' ? puzzle : solution)
  return createProofOfWork({ keyFor }, { now: () => millis })
}

const proof = proofAt(now)

async function solve(challenge: Puzzle) {
  const solution = await solveChallenge({ challenge, deriveKey })
  if (!solution) throw new Error('the puzzle has no solution')
  return { challenge, solution }
}

const tokenOf = (payload: unknown) => btoa(JSON.stringify(payload))

function verdictOn(token: string | undefined, by = proof) {
  return by.verify({ token, submissionId: 'any' })
}

function verifiedByLibrary({ challenge, solution }: Awaited<ReturnType<typeof solve>>) {
  return verifySolution({
    ...{ challenge, solution, deriveKey },
    hmacSignatureSecret: keys.puzzle,
    hmacKeySignatureSecret: keys.solution,
  })
}

const solved = await solve(await proof.makePuzzle())

test('ALTCHA’s library solves our puzzle, and both take the solution', async () => {
  const { nonce } = solved.challenge.parameters
  expect(await verdictOn(tokenOf(solved))).toEqual({ kind: 'passed', spent: nonce })
  expect(await verifiedByLibrary(solved)).toMatchObject({ verified: true })
})

test('our code takes the solution of a puzzle that ALTCHA’s library made with the same keys', async () => {
  const challenge = (await createChallenge({
    ...{ algorithm: 'PBKDF2/SHA-256', cost: 10, counter: 3, deriveKey },
    expiresAt: Math.floor(now / 1000) + 60,
    hmacSignatureSecret: keys.puzzle,
    hmacKeySignatureSecret: keys.solution,
  })) as Puzzle
  const { nonce } = challenge.parameters
  expect(await verdictOn(tokenOf(await solve(challenge)))).toEqual({ kind: 'passed', spent: nonce })
})

test('our puzzle has the members and the order of one that ALTCHA’s library makes', async () => {
  const made = await createChallenge({
    ...{ algorithm: 'PBKDF2/SHA-256', cost: work.cost, counter: 0, deriveKey },
    ...{ expiresAt: 1, hmacSignatureSecret: 'a', hmacKeySignatureSecret: 'b' },
  })
  const shape = (puzzle: object) => JSON.stringify(puzzle).replaceAll(/[0-9a-f]{32,}|:\d+/g, '')
  expect(shape(await proof.makePuzzle())).toBe(shape(made))
})

describe('a token that was changed is refused by ALTCHA’s library and by us', () => {
  const { challenge, solution } = solved
  const { parameters, signature } = challenge
  const other = (hex: string) => hex.replace(/^./, (digit) => (digit === '0' ? '1' : '0'))
  const withParameters = (more: object) => ({
    challenge: { signature, parameters: { ...parameters, ...more } },
    solution,
  })
  const withSolution = (more: object) => ({ challenge, solution: { ...solution, ...more } })

  test.each<[string, object]>([
    ['an easier puzzle', withParameters({ cost: 1 })],
    ['a longer life', withParameters({ expiresAt: parameters.expiresAt + 1 })],
    [
      'a signature of another key',
      withParameters({ keySignature: other(parameters.keySignature) }),
    ],
    ['no signature of the key', withParameters({ keySignature: undefined })],
    ['a further parameter', withParameters({ data: { a: 1 } })],
    ['another signature', { challenge: { parameters, signature: other(signature) }, solution }],
    ['no signature', { challenge: { parameters }, solution }],
    ['another key', withSolution({ derivedKey: other(solution.derivedKey) })],
    ['the known half of the key', withSolution({ derivedKey: parameters.keyPrefix })],
    ['the key in capitals', withSolution({ derivedKey: solution.derivedKey.toUpperCase() })],
    ['a counter as text', withSolution({ counter: String(solution.counter) })],
    ['a counter below 0', withSolution({ counter: -1 })],
    ['a counter that is no whole number', withSolution({ counter: 1.5 })],
    ['a counter of more than 32 bits', withSolution({ counter: 2 ** 32 })],
    ['no counter', withSolution({ counter: undefined })],
  ])('%s', async (_, payload) => {
    expect(await verdictOn(tokenOf(payload))).toMatchObject({ kind: 'rejected' })
    expect(await verifiedByLibrary(payload as typeof solved)).toMatchObject({ verified: false })
  })
})

test('a solution that is written in another way has spent the same', async () => {
  const { challenge, solution } = solved
  const { nonce } = challenge.parameters
  const reversed = Object.fromEntries(Object.entries(challenge.parameters).reverse())
  const again = [
    tokenOf({ solution: { ...solution, time: 1 }, challenge }),
    tokenOf({ challenge: { ...challenge, more: 1, parameters: reversed }, solution, more: [] }),
    btoa(JSON.stringify(solved, undefined, 1)),
    tokenOf(solved).replaceAll('=', ''),
    tokenOf(solved).replace(/^.{8}/, '$& \n'),
  ]
  for (const token of again) {
    expect(await verdictOn(token)).toEqual({ kind: 'passed', spent: nonce })
  }
  expect(new Set(again).size).toBe(again.length)
})

test('a puzzle is good for five minutes and no longer', async () => {
  const { parameters } = solved.challenge
  expect(parameters.expiresAt).toBe(Math.floor(now / 1000) + 300)
  const last = parameters.expiresAt * 1000
  expect(await verdictOn(tokenOf(solved), proofAt(last))).toMatchObject({ kind: 'passed' })
  const late = { kind: 'rejected', reason: 'the puzzle has expired' }
  expect(await verdictOn(tokenOf(solved), proofAt(last + 1))).toEqual(late)
})

test('a puzzle of another site is refused, and so is one that only the key of its solution belongs to', async () => {
  for (const other of [
    { ...keys, puzzle: 'the-key-of-another-site' },
    { ...keys, solution: 'the-key-of-another-site' },
  ]) {
    expect(await verdictOn(tokenOf(solved), proofAt(now, other))).toMatchObject({
      kind: 'rejected',
    })
  }
})

test.each<[string, string | undefined]>([
  ['no token', undefined],
  ['no base64', '%%%'],
  ['no JSON', btoa('hello')],
  [
    'a payload of the test mode of the widget',
    btoa('{"challenge":null,"solution":null,"test":true}'),
  ],
  ['parameters that are a list', btoa('{"challenge":{"parameters":[]},"solution":{}}')],
  ['deep JSON', btoa('['.repeat(1_500))],
  ['one that is longer than a token may be', tokenOf({ ...solved, more: 'x'.repeat(1_500) })],
])('%s is refused', async (_, token) => {
  expect(await verdictOn(token)).toMatchObject({ kind: 'rejected' })
})

test('keys are derived outside of the event loop while puzzles are made', async () => {
  const [before, ofLoop] = [process.cpuUsage(), process.threadCpuUsage()]
  await Promise.all(Array.from({ length: 200 }, () => proof.makePuzzle()))
  expect(process.threadCpuUsage(ofLoop).user).toBeLessThan(process.cpuUsage(before).user / 2)
})

test('a token is far shorter than a token may be', () => {
  expect(tokenOf(solved).length).toBeLessThan(1_000)
})

test('the secret number is within the range that was measured', () => {
  expect(work).toEqual({ cost: 5_000, stepsMax: 900 })
  expect(solved.challenge.parameters.cost).toBe(work.cost)
  expect(solved.solution.counter).toBeLessThan(work.stepsMax)
})
