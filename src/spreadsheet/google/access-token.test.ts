import { expect, test } from 'vitest'
import { systemClock } from '../../platform/clock.ts'
import { AccessTokens } from './access-token.ts'

test('a token that does not fit into a header is ignored, and the next answer counts', async () => {
  const answers = ['to\nken', 'token ✓', '', 'ya29.good']
  const tokens = new AccessTokens({
    email: 'robot@example.iam.gserviceaccount.com',
    sign: async () => 'assertion',
    tokenUrl: 'http://127.0.0.1/token',
    http: async () => {
      const text = JSON.stringify({ access_token: answers.shift(), expires_in: 3600 })
      return { status: 200, headers: new Headers(), text }
    },
    clock: systemClock,
  })
  const { signal } = new AbortController()
  for (const kind of ['refused', 'refused', 'refused', 'token']) {
    expect(await tokens.get(signal)).toMatchObject({ kind })
  }
  expect(answers).toEqual([])
})
