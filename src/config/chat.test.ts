import { inspect } from 'node:util'
import { expect, test } from 'vitest'
import { loadSettings as load, refusalOf } from '../../harness/load-settings.ts'
import type { Variables } from './reader.ts'

const slack = 'https://hooks.slack.com/services/T00/B00/very-secret'
const own = 'https://chat.example.com/hooks/very-secret'

const file = (launch: object) => ({
  ROLLCALL_CONFIG: JSON.stringify({ sites: { launch, blog: {} } }),
})

/** The kind and the host of the channel of each site. */
function channelsOf(variables: Variables) {
  const { config, secrets } = load(variables)
  expect(inspect(config, { depth: null })).not.toContain('very-secret')
  return [...secrets.sites].map(([site, { chat }]) =>
    chat ? `${site}: ${chat.chat} at ${new URL(chat.url).host}` : site,
  )
}

function refusalsOf(variables: Variables) {
  const { message, problems } = refusalOf(variables)
  expect(message).not.toContain('very-secret')
  return problems
}

const problemsOf = (variables: Variables) =>
  refusalsOf(variables).map(({ setting, problem, expected }) => `${setting} ${problem} ${expected}`)

test.each([
  ['https://hooks.slack.com/services/T0/B0/x', 'slack'],
  ['https://discord.com/api/webhooks/1/x', 'discord'],
  ['https://canary.discordapp.com/api/webhooks/1/x', 'discord'],
  ['https://chat.googleapis.com/v1/spaces/A/messages?key=x', 'googlechat'],
  ['https://prod-1.westeurope.logic.azure.com:443/workflows/x', 'teams'],
  ['https://a.b.environment.api.powerplatform.com/powerautomate/x', 'teams'],
  ['https://api.telegram.org/bot1:x/sendMessage?chat_id=-1', 'telegram'],
])('the program of %s is %s', (url, kind) => {
  expect(channelsOf({ CHAT_URL: url })).toEqual([`default: ${kind} at ${new URL(url).host}`])
})

test('CHAT_KIND says what a host does not, and a host of nobody is refused with the list', () => {
  expect(channelsOf({ CHAT_URL: own, CHAT_KIND: 'mattermost' })).toEqual([
    'default: mattermost at chat.example.com',
  ])
  const list = 'one of slack, discord, mattermost, googlechat, teams, telegram'
  const leads = 'leads to chat.example.com, which is of no chat program that Rollcall knows.'
  expect(problemsOf({ CHAT_URL: own })).toEqual([
    `CHAT_KIND is missing, and CHAT_URL ${leads} ${list}`,
  ])
  expect(problemsOf({ CHAT_URL: 'https://hooks.slack.com.example.com/very-secret' })).toHaveLength(
    1,
  )
  expect(problemsOf({ CHAT_URL: 'https://example.webhook.office.com/webhookb2/x' })).toHaveLength(1)
  expect(problemsOf({ CHAT_URL: own, CHAT_KIND: 'irc' })).toEqual([
    `CHAT_KIND is not ${list}. ${list}`,
  ])
  expect(problemsOf({ CHAT_URL: 'http://8.8.8.8/very-secret', CHAT_KIND: 'slack' })).toEqual([
    expect.stringMatching(/^CHAT_URL has an address that gets no messages/),
  ])
})

test.each([
  ['?parse_mode=HTML&chat_id=1', 'has parameters that a message would not fit'],
  ['?chat_id=1&text=hello', 'has parameters that a message would not fit'],
  ['', 'has no chat_id'],
])('a URL of Telegram that ends with sendMessage%s is refused', (query, problem) => {
  const url = `https://api.telegram.org/bot1:very-secret/sendMessage${query}`
  expect(problemsOf({ CHAT_URL: url })).toEqual([
    expect.stringMatching(`^CHAT_URL ${problem}\\. a URL with chat_id`),
  ])
})

test('a site has a channel of its own, or that of the environment', () => {
  const launch = { chatVariable: 'CHAT_URL_LAUNCH', chatKind: 'mattermost' }
  const both = { CHAT_URL: slack, CHAT_URL_LAUNCH: own }
  expect(channelsOf({ ...file(launch), ...both })).toEqual([
    'launch: mattermost at chat.example.com',
    'blog: slack at hooks.slack.com',
  ])
  // What the environment says is about its own channel.
  const other = { CHAT_URL: own, CHAT_KIND: 'mattermost', CHAT_URL_LAUNCH: slack }
  expect(channelsOf({ ...file({ chatVariable: 'CHAT_URL_LAUNCH' }), ...other })).toEqual([
    'launch: slack at hooks.slack.com',
    'blog: mattermost at chat.example.com',
  ])
})

test('a site has no channel with null, whatever the environment says', () => {
  const environment = { CHAT_URL: slack, CHAT_KIND: 'slack' }
  expect(channelsOf({ ...file({ chatVariable: null }), ...environment })).toEqual([
    'launch',
    'blog: slack at hooks.slack.com',
  ])
})

test('a kind without a URL, and what is no URL, are refused with what to do', () => {
  const missing = (setting: string) =>
    expect.stringMatching(`^CHAT_URL is missing, and ${setting}`) as string
  expect(problemsOf({ CHAT_KIND: 'slack' })).toEqual([missing('CHAT_KIND is set')])
  expect(problemsOf(file({ chatKind: 'slack' }))).toEqual([
    missing('sites\\.launch\\.chatKind is set'),
  ])
  expect(
    problemsOf({ ...file({ chatVariable: null, chatKind: 'slack' }), CHAT_URL: slack }),
  ).toEqual([expect.stringMatching(/^sites\.launch\.chatKind is set, and chatVariable is null\./)])
  const [wrong] = refusalsOf({ CHAT_URL: 'slack' })
  expect(wrong?.hint).toBe("Copy the URL of the channel's webhook.")
})

test('what is wrong with the channel of a site is told at its place', () => {
  const launch = { chatVariable: 'CHAT_URL_LAUNCH' }
  expect(problemsOf(file(launch))).toEqual([
    expect.stringMatching(/^CHAT_URL_LAUNCH is missing, and a site names it\./),
  ])
  expect(problemsOf({ ...file(launch), CHAT_URL_LAUNCH: own })).toEqual([
    expect.stringMatching(/^sites\.launch\.chatKind is missing, and CHAT_URL_LAUNCH leads to/),
  ])
  expect(problemsOf(file({ chatVariable: own }))).toEqual([
    expect.stringMatching(/^sites\.launch\.chatVariable is not the name of a variable/),
  ])
  const unused = load({ ...file({}), CHAT_URL_LAUNCH: slack }).config.warnings
  expect(unused).toEqual([
    "CHAT_URL_LAUNCH is the channel of no site. Remove it, or name it in a site's chatVariable.",
  ])
})
