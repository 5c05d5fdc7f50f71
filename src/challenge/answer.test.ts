import { expect, test } from 'vitest'

import { type SiteverifyAnswer, readAnswer } from './answer.ts'

function read(body: unknown, status = 200, headers: Record<string, string> = {}): SiteverifyAnswer {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return readAnswer({ status, headers: new Headers(headers), text })
}

const failure = (...codes: unknown[]) => ({ success: false, 'error-codes': codes, messages: [] })

test.each<[string, unknown, Partial<SiteverifyAnswer>]>([
  [
    'a success is one with its host',
    { success: true, hostname: 'example.com', action: '', metadata: { interactive: true } },
    { kind: 'success', hostname: 'example.com' },
  ],
  ['a success without a host is one', { success: true }, { kind: 'success', hostname: undefined }],
  ['success as text is no verdict', { success: 'true' }, { kind: 'none', isPassing: true }],
  ['success as a number is no verdict', { success: 1 }, { kind: 'none' }],
  ['no success at all is no verdict', { hostname: 'example.com' }, { kind: 'none' }],
  ['an empty body is no verdict', '', { kind: 'none' }],
  ['a page is no verdict', '<html>success: true</html>', { kind: 'none' }],
  ['a list is no verdict', [{ success: true }], { kind: 'none' }],
  ['null is no verdict', 'null', { kind: 'none' }],
  ['an internal error is no verdict', failure('internal-error'), { kind: 'none', isPassing: true }],
  [
    'a spent token is refused',
    failure('timeout-or-duplicate'),
    { kind: 'refused', code: 'timeout-or-duplicate' },
  ],
  [
    'a forged token is refused',
    failure('invalid-input-response'),
    { kind: 'refused', code: 'invalid-input-response' },
  ],
  ['a token without a reason is refused', failure(), { kind: 'refused', code: 'no error code' }],
  ['a failure without codes is refused', { success: false }, { kind: 'refused' }],
  ['a code never seen before is refused', failure('new-code'), { kind: 'refused' }],
  [
    'what does not look like a code goes no further',
    failure(7, null, 'token=abc123 and more', 'already-seen-response'),
    { kind: 'refused', code: 'already-seen-response' },
  ],
  [
    'a wrong secret weighs more than a bad token',
    failure('invalid-input-response', 'invalid-input-secret'),
    { kind: 'setup', code: 'invalid-input-secret' },
  ],
  [
    'a wrong secret weighs more than an internal error',
    failure('internal-error', 'missing-input-secret'),
    { kind: 'setup', code: 'missing-input-secret' },
  ],
  ['a bad request is ours', failure('bad-request'), { kind: 'setup', code: 'bad-request' }],
  ['keys of different sites are ours', failure('sitekey-secret-mismatch'), { kind: 'setup' }],
])('%s', (_, body, expected) => {
  expect(read(body)).toMatchObject(expected)
})

test.each([
  [500, true],
  [502, true],
  [503, true],
  [429, false],
  [404, false],
  [301, false],
  [400, false],
])(
  'an answer with status %i is no verdict, even if it says success; passing: %s',
  (status, isPassing) => {
    expect(read({ success: true }, status)).toMatchObject({ kind: 'none', isPassing })
  },
)

test('with another status than 200, a bad token is no verdict, and a bad secret is a wrong setting', () => {
  expect(read(failure('invalid-input-response'), 400).kind).toBe('none')
  expect(read(failure('invalid-input-secret'), 400).kind).toBe('setup')
})

test.each([
  ['17', 17],
  [' 3 ', 3],
  ['86400', 300],
  ['-1', undefined],
  ['soon', undefined],
  ['Fri, 20 Nov 2026 10:00:00 GMT', undefined],
])('Retry-After of "%s" means %s seconds', (value, seconds) => {
  const answer = read('', 503, { 'retry-after': value })
  expect(answer).toMatchObject({ kind: 'none', retryAfterSeconds: seconds })
})
