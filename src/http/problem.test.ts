import { expect, test } from 'vitest'
import { problem, Refusal } from './problem.ts'
import { refuse } from './refuse.ts'

const bodyOf = (refusal: Refusal) =>
  JSON.parse(problem(refusal, 'an-id').body as string) as Record<string, unknown>

test('a problem has its title, its status and the id of the request', () => {
  expect(bodyOf(refuse.noSuchPath())).toEqual({
    type: 'about:blank',
    title: 'Not Found',
    status: 404,
    detail: expect.any(String),
    requestId: 'an-id',
  })
})

test('a problem tells how many errors it leaves out', () => {
  const errors = Array.from({ length: 1_001 }, () => ({ field: 'f', message: 'm' }))
  const refusal = new Refusal('fields', 'No.', { errors, errorsLeftOut: 3 })
  expect(bodyOf(refusal)).toMatchObject({ errors: { length: 1_000 }, errorsLeftOut: 4 })
  expect(bodyOf(refuse.fields(errors.slice(0, 1)))).not.toHaveProperty('errorsLeftOut')
})

test('only a refusal whose outcome is unknown says so', () => {
  expect(bodyOf(refuse.outcomeUnknown())).toMatchObject({ status: 503, outcome: 'unknown' })
  expect(bodyOf(refuse.journalUnavailable())).not.toHaveProperty('outcome')
})

test('a refusal from 500 on is our fault', () => {
  expect([refuse.unexpected(), refuse.journalUnavailable()].map((it) => it.isOurs)).toEqual([
    true,
    true,
  ])
  expect(refuse.noSuchPath().isOurs).toBe(false)
})

test('only a public problem may be read by pages of every origin', () => {
  const policyOf = (refusal: Refusal) => {
    const { security } = problem(refusal, 'an-id')
    return security[security.indexOf('cross-origin-resource-policy') + 1]
  }
  expect(policyOf(refuse.noSuchSite(true))).toBe('cross-origin')
  expect(policyOf(refuse.noSuchSite())).toBe('same-origin')
})
