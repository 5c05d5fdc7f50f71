import { expect, test } from 'vitest'
import { welcome } from './serve.ts'

const service = { url: 'http://localhost:3000', locations: ['/data/sheets'] }
const open = {
  challenge: undefined,
  hasSites: false,
  name: 'default',
  fields: [],
} as const
const challenge = {
  provider: 'turnstile',
  siteKey: 'site',
  verifyUrl: undefined,
  scriptUrl: undefined,
  hostnames: undefined,
} as const

test('without a challenge, the text has a command to try', () => {
  expect(welcome(service, open)).toMatch(/^Rollcall listens on http:\/\/localhost:3000\n/)
  expect(welcome(service, open)).toContain('Try: curl http://localhost:3000/api/signup')
})

test('with a challenge, the text names the page, because no command can pass', () => {
  expect(welcome(service, { ...open, challenge })).toContain('Try: open http://localhost:3000/ in')
})

test('the text names the first site of a file, and the page when a field is required', () => {
  const site = { ...open, hasSites: true, name: 'launch' }
  expect(welcome(service, site)).toContain("/api/signup?site=launch' -H")
  expect(welcome(service, { ...site, challenge })).toContain('/?site=launch in a browser')
  const fields = [{ name: 'company', type: 'text', maxLength: 80, required: true }] as const
  expect(welcome(service, { ...site, fields })).toMatch(/Try: open .*\/\?site=launch in a browser/)
})
