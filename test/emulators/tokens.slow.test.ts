// @module-tag slow
import { generateKeyPairSync } from 'node:crypto'
import { SignJWT, importPKCS8 } from 'jose'
import { expect, test } from 'vitest'
import { ManualClock } from '../../emulators/google-sheets/clock.ts'
import { startGoogleEmulator, type GoogleEmulator } from '../../emulators/google-sheets/server.ts'

const nowMs = Date.parse('2026-01-01T12:00:00Z')
const now = nowMs / 1000
const scope = 'https://www.googleapis.com/auth/spreadsheets'
const grantType = 'urn:ietf:params:oauth:grant-type:jwt-bearer'

async function sign(privateKeyPem: string, claims: Record<string, unknown>): Promise<string> {
  const key = await importPKCS8(privateKeyPem, 'RS256')
  return new SignJWT(claims).setProtectedHeader({ alg: 'RS256' }).sign(key)
}

async function trade(emulator: GoogleEmulator, assertion: string) {
  const body = new URLSearchParams({ grant_type: grantType, assertion })
  const response = await fetch(emulator.tokenUrl, { method: 'POST', body })
  const answer: unknown = await response.json()
  return { status: response.status, answer }
}

const refused = (error: string, error_description: string) => ({
  status: 400,
  answer: { error, error_description },
})
const window =
  'Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. Check your iat and exp values in the JWT claim.'

test('wrong assertions are refused in the order in which the real endpoint checks them', async () => {
  await using emulator = await startGoogleEmulator({ clock: new ManualClock(nowMs) })
  const { email, privateKeyPem } = emulator.createServiceAccount()
  const other = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })
  const good = {
    iss: email,
    scope,
    aud: 'https://oauth2.googleapis.com/token',
    iat: now,
    exp: now + 3600,
  }
  const answerTo = async (claims: Record<string, unknown>, key = privateKeyPem) =>
    trade(emulator, await sign(key, claims))

  expect(await trade(emulator, 'not.a.token')).toEqual(refused('invalid_request', 'Bad Request'))
  expect(await answerTo(good, other.privateKey)).toEqual(
    refused('invalid_grant', 'Invalid JWT Signature.'),
  )
  expect(await answerTo({ ...good, iss: 'nobody@example.com' })).toEqual(
    refused('invalid_grant', 'Invalid grant: account not found'),
  )
  const { iat: _iat, ...withoutIat } = good
  const { exp: _exp, ...withoutExp } = good
  expect(await answerTo(withoutIat)).toEqual(
    refused('invalid_grant', 'Invalid JWT: iat (issued at) is not set.'),
  )
  expect(await answerTo(withoutExp)).toEqual(
    refused('invalid_grant', 'Invalid JWT: exp (expiration time) is not set.'),
  )
  // A host whose clock is one second fast.
  const fast = { ...good, iat: now + 1, exp: now + 3601 }
  expect(await answerTo(fast)).toEqual(refused('invalid_grant', window))
  expect(await answerTo({ ...good, iat: now - 7200, exp: now - 3600 })).toEqual(
    refused('invalid_grant', window),
  )
  expect(await answerTo({ ...good, scope: '', aud: 'elsewhere' })).toEqual(
    refused('invalid_scope', 'Invalid OAuth scope or ID token audience provided.'),
  )
  expect(await answerTo({ ...good, aud: 'elsewhere' })).toEqual(
    refused('invalid_grant', 'Invalid JWT: Failed audience check.'),
  )
})

test('a missing token, a wrong token and a missing share have different answers', async () => {
  await using emulator = await startGoogleEmulator()
  const { email } = emulator.createServiceAccount()
  const spreadsheet = emulator.createSpreadsheet()
  const call = async (token: string | undefined, path = '', method = 'GET') => {
    const url = `${emulator.url}/v4/spreadsheets/${spreadsheet.id}${path}`
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
    const response = await fetch(url, { method, headers })
    const { error } = (await response.json()) as { error?: { message: string } }
    return `${response.status} ${error?.message ?? ''}`
  }
  const full = emulator.issueToken(email)
  expect(await call(undefined)).toMatch(/^403 Method doesn't allow unregistered callers/)
  expect(await call('wrong')).toMatch(/^401 Request had invalid authentication credentials\./)
  expect(await call(full)).toBe('403 The caller does not have permission')
  spreadsheet.share(email, 'viewer')
  expect(await call(full)).toBe('200 ')
  expect(await call(full, ':batchUpdate', 'POST')).toBe('403 The caller does not have permission')
  spreadsheet.share(email, 'editor')
  expect(await call(full, '/developerMetadata/1')).toBe('404 No developer metadata with ID 1')
  spreadsheet.delete()
  expect(await call(full)).toBe('404 Requested entity was not found.')
})
