import { describe, expect, test } from 'vitest'
import { ManualClock } from '../../../harness/manual-clock.ts'
import { type HttpAnswer, HttpFailure } from '../../platform/http-client.ts'
import type { JWTPayload } from 'jose'
import { AccessTokens, keyTokens } from './access-token.ts'

const { signal } = new AbortController()
const minute = 60_000

/** Access tokens from an endpoint that gives these answers, one after the other. */
function tokensFrom(...answers: (Partial<HttpAnswer> | Error)[]) {
  const clock = new ManualClock(Date.UTC(2026, 10, 20, 10))
  const claims: JWTPayload[] = []
  const bodies: string[] = []
  const sign = async (claim: JWTPayload) => {
    claims.push(claim)
    return 'signed.assertion'
  }
  const tokens = new AccessTokens({
    ask: keyTokens({ email: 'robot@example.iam.gserviceaccount.com', sign }),
    tokenUrl: 'http://127.0.0.1/token',
    http: async ({ body }) => {
      bodies.push(String(body))
      const answer = answers.shift() ?? new Error('There was one request more than answers.')
      if (answer instanceof Error) throw answer
      return { status: 200, headers: new Headers(), text: '', ...answer }
    },
    clock,
  })
  return { tokens, clock, claims, bodies, get: () => tokens.get(signal) }
}

const good = (token: string, expiresIn: number | null = 3599) => ({
  text: JSON.stringify({ access_token: token, expires_in: expiresIn }),
})

describe('an access token', () => {
  test('is asked for with an assertion that allows for a clock that is a little off', async () => {
    const { get, claims, bodies } = tokensFrom(good('ya29.a'))
    expect(await get()).toMatchObject({ kind: 'token', token: 'ya29.a' })
    const now = Date.UTC(2026, 10, 20, 10) / 1000
    expect(claims).toEqual([
      {
        iss: 'robot@example.iam.gserviceaccount.com',
        aud: 'https://oauth2.googleapis.com/token',
        scope: 'https://www.googleapis.com/auth/spreadsheets',
        iat: now - 30,
        exp: now + 55 * 60,
      },
    ])
    expect(Object.fromEntries(new URLSearchParams(bodies[0]))).toEqual({
      grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
      assertion: 'signed.assertion',
    })
  })

  test.each([
    [3599, 54 * minute],
    [600, 4 * minute],
  ])(
    'that lives for %s seconds is used until five minutes before its end',
    async (expiresIn, usedMs) => {
      const { get, clock, bodies } = tokensFrom(good('ya29.a', expiresIn), good('ya29.b'))
      await get()
      await clock.run(usedMs)
      expect(await get()).toMatchObject({ kind: 'token', token: 'ya29.a' })
      await clock.run(minute)
      expect(await get()).toMatchObject({ kind: 'token', token: 'ya29.b' })
      expect(bodies).toHaveLength(2)
    },
  )

  test('that does not fit into a header is ignored, and the next answer counts', async () => {
    const bad = ['to\nken', 'to ken', 'token ✓', '']
    const { get, bodies } = tokensFrom(...[...bad, 'ya29.good'].map((token) => good(token)))
    for (const _ of bad) expect(await get()).toMatchObject({ kind: 'refused' })
    expect(await get()).toMatchObject({ kind: 'token' })
    expect(bodies).toHaveLength(5)
  })

  test.each([
    [
      400,
      { error: 'invalid_grant', error_description: 'Invalid JWT Signature.' },
      /^Google says: Invalid JWT Signature\. Check that the address/,
    ],
    [401, { error: 'invalid_client' }, /^Google says: invalid_client\. Check/],
    [403, { error: { code: 403 } }, /^Google says: nothing, and gives no access token\. Check/],
    [200, { id_token: 'x' }, /^Google says: nothing, and gives no access token\. Check/],
  ])('that Google refuses with HTTP %i is for a person to mend: %j', async (status, body, hint) => {
    const { get } = tokensFrom({ status, text: JSON.stringify(body) })
    expect(await get()).toMatchObject({
      kind: 'refused',
      reason: 'credentials',
      hint: expect.stringMatching(hint),
    })
  })

  test.each([
    [400, '<html>'],
    [200, ''],
    [404, '{"error":"not_found"}'],
    [429, '{}'],
    [503, '{"access_token":"ya29.a"}'],
  ])('is asked for again after any other answer: HTTP %i %s', async (status, text) => {
    const { get } = tokensFrom({ status, text }, good('ya29.b'))
    expect(await get()).toEqual({
      kind: 'retryable',
      message: `The token endpoint answered HTTP ${status}`,
    })
    expect(await get()).toMatchObject({ kind: 'token', token: 'ya29.b' })
  })

  test.each(['0', '-5'])('is asked for again when it lives for %s s', async (seconds) => {
    const text = `{"access_token":"ya29.a","expires_in":${seconds}}`
    const { get } = tokensFrom({ status: 200, text }, good('ya29.b'))
    expect(await get()).toMatchObject({ kind: 'retryable' })
    expect(await get()).toMatchObject({ kind: 'token', token: 'ya29.b' })
  })

  test('is asked for again after a failure of the network, but a mistake of ours is thrown', async () => {
    const failure = new HttpFailure('The connection was refused')
    const { get } = tokensFrom(failure, new TypeError('a mistake'))
    expect(await get()).toEqual({ kind: 'retryable', message: failure.message, cause: failure })
    await expect(get()).rejects.toThrow('a mistake')
  })
})
