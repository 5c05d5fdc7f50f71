import { expect, test } from 'vitest'
import { pageOptions } from '../../harness/page-options.ts'
import { answerRefusal } from './refusal.ts'
import { webResponse } from '../../harness/web-response.ts'
import type { Refusal } from '../http/problem.ts'
import { refuse } from '../http/refuse.ts'

const visit = {
  requestId: '00000000-0000-4000-8000-000000000000',
  ownOrigin: 'http://localhost',
  postedFields: [
    ['email', 'ada@example.com'],
    ['sheetTab', 'Launch'],
    ['challengeToken', 'spent'],
  ] as const,
  mayBeFramed: true,
}

/** The answer to a visitor who asks for this. */
async function ask(accept: string, refusal: Refusal) {
  const request = new Request('http://localhost/api/signup', { headers: { accept } })
  const answer = await answerRefusal(refusal, { ...visit, request }, pageOptions())
  return { answer: webResponse(answer), vary: answer.vary }
}

test.each([
  ['a full disk', refuse.journalUnavailable(), 503, '5'],
  ['a refused challenge', refuse.challenge(), 403, null],
  ['a defect of ours', refuse.unexpected(), 500, null],
])(
  'after %s a person gets the form again, with the same status',
  async (_, refused, status, retry) => {
    const { answer, vary } = await ask('text/html', refused)
    expect(answer.status).toBe(status)
    expect(answer.headers.get('retry-after')).toBe(retry)
    expect(vary).toBe('Accept, Accept-Language, Origin')
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8')
    const page = await answer.text()
    expect(page).toMatch(/role="alert" tabindex="-1" autofocus/)
    expect(page).toContain('value="ada@example.com"')
    expect(page).toContain('<input type="hidden" name="sheetTab" value="Launch">')
    expect(page).not.toContain('spent')
    // The detail is written for developers.
    expect(page).not.toContain(refused.message)
  },
)

test('a program gets a problem document, with Vary for caches', async () => {
  const { answer, vary } = await ask('*/*', refuse.noSuchPath())
  expect(answer.headers.get('content-type')).toBe('application/problem+json')
  expect(vary).toBe('Accept, Origin')
  expect(await answer.json()).toMatchObject({ status: 404, requestId: visit.requestId })
})
