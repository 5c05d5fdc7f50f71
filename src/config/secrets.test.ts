import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { loadSettings, refusalOf } from '../../harness/load-settings.ts'
import type { Variables } from './reader.ts'

const secret = (bytes: number) => `whsec_${Buffer.alloc(bytes, 'k').toString('base64')}`
const url = 'https://hooks.example.com/services/very-secret?a=1'

const load = (variables: Variables) => loadSettings(variables).secrets.alertWebhook
const problemsOf = (variables: Variables) => refusalOf(variables).message

test.each([24, 64])('a URL and a secret of %d bytes are where notices go', (bytes) => {
  const webhook = load({ ALERT_WEBHOOK_URL: url, ALERT_WEBHOOK_SECRET: secret(bytes) })
  expect(webhook?.url).toBe(url)
  expect(webhook?.keys.map((it) => it.byteLength)).toEqual([bytes])
})

test('two secrets are taken while one takes the place of the other, and no third', () => {
  const both = `${secret(24)}  ${secret(32)}`
  const webhook = load({ ALERT_WEBHOOK_URL: url, ALERT_WEBHOOK_SECRET: both })
  expect(webhook?.keys.map((it) => it.length)).toEqual([24, 32])
  const three = `${both} ${secret(40)}`
  const message = problemsOf({ ALERT_WEBHOOK_URL: url, ALERT_WEBHOOK_SECRET: three })
  expect(message).toMatch(/ALERT_WEBHOOK_SECRET: is not whsec_ and then/)
})

test.each(['http://127.0.0.1:5678/x', 'http://n8n:5678/x'])(
  'HTTP is taken for an address of the own network, and for a name: %s',
  (near) => {
    const webhook = load({ ALERT_WEBHOOK_URL: near, ALERT_WEBHOOK_SECRET: secret(32) })
    expect(webhook?.url).toBe(near)
  },
)

test.each([
  ['a URL alone', url, '', /ALERT_WEBHOOK_SECRET: is missing/],
  ['a secret alone', '', secret(32), /ALERT_WEBHOOK_URL: is missing/],
  ['another protocol', 'ftp://127.0.0.1/very-secret', secret(32), /not a URL of HTTPS/],
  ['HTTP to elsewhere', 'http://8.8.8.8/very-secret', secret(32), /address that gets no messages/],
  ['a link-local address', 'https://[fe80::1]/very-secret', secret(32), /gets no messages/],
  ['a password in the URL', 'https://me:very-secret@a.example', secret(32), /password/],
  ['a secret without its beginning', url, secret(32).slice(6), /is not whsec_ and then/],
  ['a secret that is not base64', url, 'whsec_not*base64', /is not whsec_ and then/],
  ['a short secret', url, secret(23), /is not whsec_ and then/],
  ['a long secret', url, secret(65), /is not whsec_ and then/],
])('%s is refused, and nothing of it is shown', (_, given, key, problem) => {
  const message = problemsOf({ ALERT_WEBHOOK_URL: given, ALERT_WEBHOOK_SECRET: key })
  expect(message).toMatch(problem)
  expect(message).not.toMatch(/very-secret|a2tr|not\*base64/)
})

test.each(['WEBHOOK', 'ALERT_WEBHOOK'])(
  'a missing %s_SECRET is answered with a command that makes one',
  (name) => {
    const variables = { [`${name}_URL`]: url }
    const [, command = ''] = /Make one with: (.*")\. Or/.exec(problemsOf(variables)) ?? []
    const made = execFileSync('/bin/sh', ['-c', command], { encoding: 'utf8' })
    expect(problemsOf({ ...variables, [`${name}_SECRET`]: made })).toBe('accepted')
  },
)
