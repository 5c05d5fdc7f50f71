import { inspect } from 'node:util'
import { expect, test } from 'vitest'
import { loadSettings as load, refusalOf } from '../../harness/load-settings.ts'
import type { Variables } from './reader.ts'

const url = 'https://hooks.example.com/very-secret'
const secret = (letter: string) => `whsec_${letter.repeat(32)}`

/** The webhooks of each site: the host, the numbers of bytes of the keys, and the variable. */
function webhooksOf(variables: Variables) {
  const { config, secrets } = load(variables)
  expect(inspect(config, { depth: null })).not.toMatch(/very-secret|whsec/)
  return [...secrets.sites].map(([site, { webhooks = [] }]) => [
    site,
    ...webhooks.map((it) => [it.url, it.keys.map((key) => key.length), it.secretVariable]),
  ])
}

function problemsOf(variables: Variables): readonly string[] {
  const { message, problems } = refusalOf(variables)
  expect(message).not.toMatch(/very-secret|aaaaaa/)
  return problems.map(({ setting, problem }) => `${setting} ${problem}`)
}

const file = (...webhooks: object[]) => ({
  ROLLCALL_CONFIG: JSON.stringify({ sites: { launch: { webhooks }, blog: {} } }),
})
const own = { url, secretVariable: 'WEBHOOK_SECRET_LAUNCH' }

test('two settings make the webhook of the site, and one alone is refused', () => {
  const both = { WEBHOOK_URL: url, WEBHOOK_SECRET: `${secret('a')} ${secret('b')}` }
  expect(webhooksOf(both)).toEqual([['default', [url, [24, 24], 'WEBHOOK_SECRET']]])
  expect(problemsOf({ WEBHOOK_URL: url })).toEqual([
    'WEBHOOK_SECRET is missing, and WEBHOOK_URL is set.',
  ])
  expect(problemsOf({ WEBHOOK_SECRET: secret('a') })).toEqual([
    'WEBHOOK_URL is missing, and WEBHOOK_SECRET is set.',
  ])
  expect(problemsOf({ ...both, WEBHOOK_URL: 'http://8.8.8.8/very-secret' })).toEqual([
    'WEBHOOK_URL has an address that gets no messages.',
  ])
  expect(problemsOf({ ...both, WEBHOOK_SECRET: 'aaaaaaaaaaaa' })).toEqual([
    'WEBHOOK_SECRET is not whsec_ and then 24 to 64 bytes in base64.',
  ])
})

test('a site has its own webhooks, or those of the environment, or none', () => {
  const keys = { WEBHOOK_SECRET_LAUNCH: secret('a'), WEBHOOK_SECRET: secret('b') }
  const near = { url: 'http://n8n:5678/x', secretVariable: 'WEBHOOK_SECRET' }
  expect(webhooksOf({ ...file(own, near), ...keys })).toEqual([
    ['launch', [url, [24], 'WEBHOOK_SECRET_LAUNCH'], [near.url, [24], 'WEBHOOK_SECRET']],
    ['blog'],
  ])
  expect(webhooksOf({ ...file(), WEBHOOK_URL: url, WEBHOOK_SECRET: secret('b') })).toEqual([
    ['launch'],
    ['blog', [url, [24], 'WEBHOOK_SECRET']],
  ])
  expect(webhooksOf({ ...file(near), WEBHOOK_URL: url, WEBHOOK_SECRET: secret('b') })).toEqual([
    ['launch', [near.url, [24], 'WEBHOOK_SECRET']],
    ['blog', [url, [24], 'WEBHOOK_SECRET']],
  ])
})

test('what is wrong with the webhooks of a site is told at its place', () => {
  const at = 'sites.launch.webhooks'
  const keys = { WEBHOOK_SECRET_LAUNCH: secret('a') }
  const sameUrl = { ...own, url: 'https://HOOKS.example.com/very-secret' }
  expect(problemsOf({ ...file(own, sameUrl), ...keys })).toEqual([
    `${at}[1].url is the URL of another webhook of this site.`,
  ])
  expect(problemsOf(file(own))).toEqual([
    'WEBHOOK_SECRET_LAUNCH is missing, and a webhook of a site names it.',
  ])
  expect(problemsOf({ ...file(own), WEBHOOK_SECRET_LAUNCH: 'aaaaaaaaaaaa' })).toEqual([
    'WEBHOOK_SECRET_LAUNCH is not whsec_ and then 24 to 64 bytes in base64.',
  ])
  expect(
    problemsOf({
      ...keys,
      ...file(
        { url: 'ftp://x/very-secret', secretVariable: secret('a') },
        {},
        { ...own, key: 'x' },
      ),
    }),
  ).toEqual([
    `${at}[0].url is not a URL of HTTPS, or of HTTP in the own network, without user name and password.`,
    `${at}[0].secretVariable is not the name of a variable that begins with WEBHOOK_SECRET.`,
    `${at}[1].url is missing.`,
    `${at}[1].secretVariable is missing.`,
    `${at}[2].key is no key of this file.`,
  ])
  const six = [1, 2, 3, 4, 5, 6].map((it) => ({ ...own, url: `https://a.example/${it}` }))
  expect(problemsOf({ ...file(...six), ...keys })).toEqual([
    `${at} is not a list with 0 to 5 entries.`,
  ])
  expect(problemsOf({ ...file(...six.slice(1)), ...keys })).toEqual([])
})
