import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'

import type { BulkAccepted, Problem } from '../../src/signup/wire.ts'
import { createGoogleWorld } from '../../harness/google-world.ts'
import { postBulk } from '../../harness/post-signup.ts'
import { readTab } from '../../harness/read-workbook.ts'
import { bootService } from '../../harness/boot-service.ts'

const uuidv7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const people = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ email: `person${index}@example.com` }))

test('all signups of a bulk request are accepted and become rows in its order', async () => {
  await using service = await bootService()
  const signups = [
    { email: 'c@example.com', name: 'C', tags: 'x, y' },
    { email: 'a@example.com', source: 'import' },
    { email: 'B@Example.com', metadata: { k: 1 } },
  ]
  const request = { signups, challengeToken: null }
  const answer = await postBulk(service.url, request)
  expect(answer.status).toBe(202)
  const body = (await answer.json()) as { results: { id: string }[] }
  expect(body).toEqual({
    accepted: 3,
    rejected: 0,
    results: [0, 1, 2].map((index) => ({
      index,
      id: expect.stringMatching(uuidv7),
      status: 'accepted',
    })),
  })
  await expect
    .poll(() => readTab(join(service.folder, 'data'), 'Sheet1.csv').slice(1).map(withoutTime))
    .toEqual([
      ['c@example.com', 'bulk', 'C', 'x, y', '', 'Sheet1'],
      ['a@example.com', 'import', '', '', '', 'Sheet1'],
      ['B@example.com', 'bulk', '', '', '{"k":1}', 'Sheet1'],
    ])
  for (const { id } of body.results) {
    for (const written of [id, id.toUpperCase()]) {
      expect((await fetch(`${service.url}/api/signup/${written}`)).status).toBe(200)
    }
  }
})

test('a bulk request with 1,000 signups is stored in one commit', async () => {
  // Google fails, so that delivery writes nothing to the journal meanwhile.
  await using world = await createGoogleWorld()
  world.emulator.faults.add({ on: 'any', times: 0, answer: 'unavailable' })
  await using service = await bootService({ env: world.env })
  const file = join(service.folder, 'data', 'journal.db')
  using reader = new DatabaseSync(file, { readOnly: true })
  const seen = new Set<unknown>()
  const look = () => seen.add(reader.prepare('SELECT count(*) AS n FROM signup').get()?.['n'])
  look()
  const request = { isAnswered: false }
  const answer = postBulk(service.url, { signups: people(1000) }).finally(() => {
    request.isAnswered = true
  })
  while (!request.isAnswered) {
    look()
    await new Promise((resolve) => setImmediate(resolve))
  }
  expect((await answer).status).toBe(202)
  look()
  // Another connection sees only what is committed.
  expect([...seen]).toEqual([0, 1000])
})

function withoutTime(row: readonly string[]): string[] {
  return row.filter((_, index) => index !== 1)
}

test('an answer tells the first errors of a bulk request, counts the others and says of each signup that it was rejected', async () => {
  const names = Array.from({ length: 20 }, (_, index) => `choice${index}`)
  const options = ['a', 'b', 'c', 'd', 'e'.repeat(200), 'f', 'g']
  const fields = names.map((name) => ({ name, type: 'choice', options }))
  const env = { ROLLCALL_CONFIG: JSON.stringify({ sites: { default: { fields } } }) }
  await using service = await bootService({ env })
  const wrong = Object.fromEntries(names.map((name) => [name, 'x']))
  const rejected = Array.from({ length: 300 }, () => ({ email: 'ada@example.com', ...wrong }))
  const signups = [{ email: 'first@example.com' }, ...rejected]

  const some = await postBulk(service.url, { signups })
  expect(some.status).toBe(207)
  const { results, errorsLeftOut } = (await some.json()) as BulkAccepted
  expect(results.map(({ status }) => status)).toEqual([
    'accepted',
    ...rejected.map(() => 'rejected'),
  ])
  const told = results.flatMap((result) => (result.status === 'rejected' ? result.errors : []))
  expect(told.length + Number(errorsLeftOut)).toBe(300 * 20)
  expect(told[0]).toEqual({
    field: 'choice0',
    message: `choice0 must be one of a, b, c, d, ${'e'.repeat(200)} and 2 more.`,
  })
  expect(JSON.stringify(told).length).toBeLessThan(100_000)
  expect(told.length).toBeGreaterThan(100)

  const none = await postBulk(service.url, { signups: rejected })
  expect(none.status).toBe(422)
  const problem = (await none.json()) as Problem
  expect(problem.errors).toHaveLength(told.length)
  expect(problem.errors?.[20]).toEqual({ index: 1, ...told[20] })
  expect(problem.errorsLeftOut).toBe(errorsLeftOut)
})
