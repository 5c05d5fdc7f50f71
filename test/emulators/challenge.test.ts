import { describe, expect, test } from 'vitest'

import { providerNames, providerRules } from '../../emulators/challenge/providers.ts'
import { type ChallengeEmulator, startChallengeEmulator } from '../../emulators/challenge/server.ts'
import { ManualClock } from '../../emulators/google-sheets/clock.ts'

const start = Date.UTC(2026, 10, 20, 10)

async function verify(
  emulator: ChallengeEmulator,
  fields: Record<string, string>,
  provider: (typeof providerNames)[number] = 'turnstile',
): Promise<unknown> {
  const answer = await fetch(emulator.verifyUrl(provider), {
    method: 'POST',
    body: new URLSearchParams(fields),
  })
  expect(answer.status).toBe(200)
  return answer.json()
}

const refused = (code: string) => ({ success: false, 'error-codes': [code], messages: [] })

test('the answer to a token of a site has the host name of its page', async () => {
  await using emulator = await startChallengeEmulator({ clock: new ManualClock(start) })
  const site = emulator.createSite()
  const response = emulator.issueToken(site, { hostname: 'example.com' })
  expect(await verify(emulator, { secret: site.secret, response })).toEqual({
    success: true,
    challenge_ts: '2026-11-20T10:00:00.000Z',
    'error-codes': [],
    hostname: 'example.com',
    action: '',
    cdata: '',
  })
})

describe.each(providerNames)('%s', (provider) => {
  const { codes, tokenLifeMs, dummyToken } = providerRules[provider]

  test('a token lives as long as the provider says', async () => {
    const clock = new ManualClock(start)
    await using emulator = await startChallengeEmulator({ clock })
    const site = emulator.createSite(provider)
    const { secret } = site
    const [first, second] = [emulator.issueToken(site), emulator.issueToken(site)]
    clock.advance(tokenLifeMs - 1)
    expect(await verify(emulator, { secret, response: first }, provider)).toMatchObject({
      success: true,
    })
    clock.advance(1)
    expect(await verify(emulator, { secret, response: second }, provider)).toMatchObject({
      success: false,
      'error-codes': [codes.expired],
    })
  })

  test('a missing secret is reported first, then a missing token', async () => {
    await using emulator = await startChallengeEmulator()
    const { secret } = emulator.createSite(provider)
    const codesOf = async (fields: Record<string, string>) =>
      ((await verify(emulator, fields, provider)) as Record<string, unknown>)['error-codes']
    expect(await codesOf({})).toEqual(['missing-input-secret'])
    expect(await codesOf({ secret })).toEqual(['missing-input-response'])
    expect(await codesOf({ secret: 'unknown', response: 'x' })).toEqual(['invalid-input-secret'])
    expect(await codesOf({ secret, response: dummyToken })).toEqual(['invalid-input-response'])
  })
})

test('the test secret of Turnstile refuses a real token', async () => {
  await using emulator = await startChallengeEmulator()
  const call = { secret: providerRules.turnstile.testSecret, response: 'a real token' }
  expect(await verify(emulator, call)).toEqual(refused('invalid-input-secret'))
})

test('faults meet the calls that they are meant for, and decide whether the token is spent', async () => {
  await using emulator = await startChallengeEmulator()
  const site = emulator.createSite()
  const ask = async (response: string) =>
    verify(emulator, { secret: site.secret, response }).then(
      (verdict) => (verdict as { success: unknown }).success,
      () => 'failed',
    )
  emulator.faults.add({ provider: 'hcaptcha' }, { skip: 1, answer: 'successAsText' })
  const first = emulator.issueToken(site)
  expect(await ask(first)).toBe(true)
  const second = emulator.issueToken(site)
  expect(await ask(second)).toBe('true')
  emulator.faults.add({ redeem: 'now', answer: 'drop' })
  expect(await ask(second)).toBe('failed')
  expect(await ask(second)).toBe(false)
  expect(emulator.counters).toMatchObject({ calls: 4, passed: 2, refused: 1, lost: 1 })
  expect(emulator.faults.pending).toEqual([{ provider: 'hcaptcha' }])
})

test('tokens, faults and the widget can be managed over HTTP', async () => {
  await using emulator = await startChallengeEmulator()
  const admin = async (method: string, path: string, body?: unknown): Promise<unknown> => {
    const init = body === undefined ? {} : { body: JSON.stringify(body) }
    return (await fetch(`${emulator.url}/emulator${path}`, { method, ...init })).json()
  }
  const { siteKey, secret } = emulator.createSite()
  const { token } = (await admin('POST', '/tokens', { siteKey })) as { token: string }
  expect(await verify(emulator, { secret, response: token })).toMatchObject({ success: true })
  expect(await admin('POST', '/tokens', { siteKey: 'x' })).toHaveProperty('error')
  expect(await admin('POST', '/faults', { answer: 'badGateway', times: 0 })).toHaveLength(1)
  expect(await admin('POST', '/faults', { answer: 'nonsense' })).toHaveProperty('error')
  expect(await admin('DELETE', '/faults')).toEqual([])
  expect(emulator.faults.pending).toEqual([])
  expect(await admin('POST', '/widget', { outcome: 'error' })).toMatchObject({ outcome: 'error' })
  expect(await admin('GET', '/sites')).toHaveProperty('error')
})
