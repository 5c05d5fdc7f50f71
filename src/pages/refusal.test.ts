import { expect, test } from 'vitest'
import { pageOptions } from '../../harness/page-options.ts'
import { answerRefusal } from './refusal.ts'
import { refuse } from '../http/respond.ts'

const visit = {
  requestId: '00000000-0000-4000-8000-000000000000',
  ownOrigin: 'http://localhost',
  typed: [
    ['email', 'ada@example.com'],
    ['sheetTab', 'Launch'],
    ['challengeToken', 'spent'],
  ] as const,
}

function requestOf(accept: string): Request {
  return new Request('http://localhost/api/signup', { headers: { accept } })
}

test.each([
  ['a full disk', refuse.journalUnavailable(), 503, '5'],
  ['a refused challenge', refuse.challenge(), 403, null],
  ['a defect of ours', refuse.unexpected(), 500, null],
])(
  'after %s a person gets the form again, by the same status',
  async (_, refused, status, retry) => {
    const answer = await answerRefusal(requestOf('text/html'), refused, visit, pageOptions())
    expect(answer.status).toBe(status)
    expect(answer.headers.get('retry-after')).toBe(retry)
    expect(answer.headers.get('vary')).toBe('Accept, Accept-Language')
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8')
    const page = await answer.text()
    expect(page).toMatch(/role="alert" tabindex="-1" autofocus/)
    expect(page).toContain('value="ada@example.com"')
    expect(page).toContain('<input type="hidden" name="sheetTab" value="Launch" />')
    expect(page).not.toContain('spent')
    // The detail is written for developers.
    expect(page).not.toContain(refused.message)
  },
)

test('a program gets a problem document, and caches are told that it depends', async () => {
  const answer = await answerRefusal(requestOf('*/*'), refuse.noSuchPath(), visit, pageOptions())
  expect(answer.headers.get('content-type')).toBe('application/problem+json')
  expect(answer.headers.get('vary')).toBe('Accept')
  expect(await answer.json()).toMatchObject({ status: 404, requestId: visit.requestId })
})
