import { describe, expect, test } from 'vitest'
import { loadSettings as load, problemsOf as problemsIn } from '../../harness/load-settings.ts'
import { tried } from '../../harness/tried.ts'
import { mailbox, mailFrom, mailUrl } from './mail-values.ts'
import { publicUrl } from './values.ts'

const whole = {
  MAIL_URL: 'smtps://rollcall:p%40ss%3Aword@smtp.example.org:465',
  MAIL_FROM: 'The letter <Hello@Example.org>',
  PUBLIC_URL: 'https://signup.example.org/',
}

const sites = (site: object) => ({ ROLLCALL_CONFIG: JSON.stringify({ sites: { launch: site } }) })

describe('the URL of the mail server', () => {
  test.each([
    'smtp://smtp.example.org',
    'smtps://rollcall:p%40ss@smtp.example.org:465',
    'smtp://rollcall%40example.org:x@mail:2525',
    'smtps://[2001:db8::1]:465',
  ])('%s is one', (text) => {
    expect(tried(mailUrl, text)).toEqual({ value: text })
  })

  test.each([
    'smtp.example.org:587',
    'https://smtp.example.org',
    'smtp://',
    'smtp://rollcall:p/ss@smtp.example.org',
    'smtp://rollcall:100%@smtp.example.org',
    'smtp://rollcall:a%0Ab@smtp.example.org',
    'smtp://rollcall:a b@smtp.example.org',
    'smtp://rollcall@smtp.example.org',
    'smtp://:password@smtp.example.org',
    'smtp://smtp.example.org:70000',
    'smtp://smtp.example.org/path',
    'smtp://smtp.example.org?tls.rejectUnauthorized=false',
    'smtp://smtp.example\n.org',
  ])('%j is none, and is not shown', (text) => {
    const refused = tried(mailUrl, text)
    expect(refused).toMatchObject({ problem: /^(is|has) .*\.$/, hint: expect.any(String) })
    expect(JSON.stringify(refused)).not.toContain('rollcall')
  })
})

test.each([
  ['hello@example.org', 'hello@example.org'],
  ['The letter <hello@Example.org>', '"The letter" <hello@example.org>'],
  ['"Acme, Inc." <hello@example.org>', '"Acme, Inc." <hello@example.org>'],
  ['<hello@example.org>', 'hello@example.org'],
  ['Größe 🌵 <hello@bücher.example>', '"Größe 🌵" <hello@xn--bcher-kva.example>'],
])('the sender %s is written as %s', (text, value) => {
  expect(tried(mailFrom, text)).toEqual({ value })
})

test.each([
  ['no address', 'Rollcall'],
  ['an address without a domain', 'hello@localhost'],
  ['a second line', 'A <a@example.org>\nBcc: b@example.org'],
  ['two addresses', 'A <a@example.org>, B <b@example.org>'],
  ['a quote in the name', 'A "x" B <a@example.org>'],
  ['a name that is too long', `${'x'.repeat(101)} <a@example.org>`],
  ['an address that is too long', '<'.repeat(1_000_000)],
])('a sender with %s is refused', (_, text) => {
  expect(tried(mailFrom, text)).toMatchObject({ problem: 'is not the sender of a mail.' })
})

test.each([
  ['https://signup.example.org', 'https://signup.example.org'],
  ['https://Example.org/letter/', 'https://example.org/letter'],
])('the public URL %s is kept as %s', (text, value) => {
  expect(tried(publicUrl, text)).toEqual({ value })
})

test.each([
  ...['signup.example.org', 'ftp://example.org', 'https://example.org?site=x', 'https://a/#b'],
  ...['https://user:x@example.org', 'https://exa\nmple.org', ''],
  `https://example.org/${'x'.repeat(500)}`,
])('%j is no public URL', (text) => {
  expect(tried(publicUrl, text)).toMatchObject({ problem: /^is not a short/ })
})

test('the owner has one address, whoever provides it', () => {
  expect(tried(mailbox, 'me@gmail.com')).toEqual({ value: 'me@gmail.com' })
  for (const text of ['Me <me@example.org>', 'a@example.org,b@example.org', 'me'])
    expect(tried(mailbox, text)).toMatchObject({ problem: 'is not an email address.' })
})

test('without a setting that needs mail there is none, and what is set for it is kept', () => {
  expect(load({}).config).toMatchObject({ mail: undefined, confirmationDays: 7 })
  expect(load({}).secrets.mailUrl).toBeUndefined()
  const { config, secrets } = load(whole)
  expect(config.mail).toBeUndefined()
  expect(secrets.mailUrl).toBe(whole.MAIL_URL)
})

test.each([{ CONFIRMATION: 'mail' }, { WELCOME_MAIL: 'on' }, { OWNER_MAIL: 'owner@example.org' }])(
  '%j needs a server, a sender and a public URL, and all that is missing is told at once',
  (needing) => {
    const [[name, value]] = Object.entries(needing) as [[string, string]]
    const reason = name === 'OWNER_MAIL' ? name : `${name}=${value}`
    expect(problemsIn(needing)).toEqual(
      Object.keys(whole).map((it) => `${it} is missing, and ${reason} needs it.`),
    )
    expect(problemsIn({ ...needing, ...whole, MAIL_FROM: '' })).toEqual([
      `MAIL_FROM is missing, and ${reason} needs it.`,
    ])
    expect(load({ ...needing, ...whole }).config.mail).toEqual({
      from: '"The letter" <Hello@example.org>',
      publicUrl: 'https://signup.example.org',
      perHour: 500,
      owner: needing.OWNER_MAIL,
      ownerWhen: 'daily',
    })
  },
)

test('what a site turns on needs mail, and the problem names its place in the file', () => {
  expect(problemsIn({ ...sites({ confirmation: 'mail' }), MAIL_FROM: 'nobody' })).toEqual([
    'MAIL_FROM is not the sender of a mail.',
    'MAIL_URL is missing, and sites.launch.confirmation needs it.',
    'PUBLIC_URL is missing, and sites.launch.confirmation needs it.',
  ])
  const problem = 'MAIL_URL is missing, and sites.launch.mail.welcome needs it.'
  expect(problemsIn(sites({ mail: { welcome: { text: 'Hello.' } } }))).toContain(problem)
  expect(problemsIn({ ...sites({ confirmation: 'off' }), CONFIRMATION: 'mail' })).toEqual([])
})

test('a site has texts of its own, by language and in several lines', () => {
  const subject = { en: 'Please confirm', de: 'Bitte bestätigen' }
  const mail = { subject, text: 'One.\r\n\r\nTwo.', welcome: { text: 'Hello.' } }
  const around = { ...whole, CONFIRMATION: 'mail', MAIL_TEXT: 'Ours', WELCOME_SUBJECT: 'Welcome' }
  const [site] = load({ ...around, ...sites({ mail }) }).config.sites
  expect(site.confirmation).toBe('mail')
  expect(site.mail).toEqual({
    subject,
    text: 'One.\n\nTwo.',
    welcome: { subject: 'Welcome', text: 'Hello.' },
  })
})

test.each(['on', 'off'] as const)('a site may turn the welcome mail %s', (welcome) => {
  const other = welcome === 'on' ? 'off' : 'on'
  const around = { ...whole, WELCOME_MAIL: other, WELCOME_TEXT: 'Hello.' }
  const [site] = load({ ...around, ...sites({ mail: { welcome } }) }).config.sites
  const texts = { subject: undefined, text: 'Hello.' }
  expect(site.mail.welcome).toEqual(welcome === 'on' ? texts : undefined)
})

test('what is wrong with the mails of a site is told by its path', () => {
  expect(problemsIn(sites({ confirmation: 'sms', mail: { welcom: 'on' } }))).toEqual([
    'sites.launch.confirmation is not one of off, mail.',
    'sites.launch.mail.welcom is no key of this file.',
  ])
  expect(problemsIn(sites({ mail: { welcome: 'maybe', subject: 'a\nb' } }))).toEqual([
    'sites.launch.mail.subject has control characters in it.',
    'sites.launch.mail.welcome is not one of off, on.',
  ])
  expect(problemsIn({ ...whole, ...sites({ mail: { welcome: { titel: 'x' } } }) })).toEqual([
    'sites.launch.mail.welcome.titel is no key of this file.',
  ])
})

test('figures have their ranges', () => {
  for (const name of ['CONFIRMATION_DAYS', 'MAIL_PER_HOUR'])
    expect(problemsIn({ [name]: '0' })).toEqual([
      expect.stringContaining(`${name} is not a whole number`),
    ])
  expect(problemsIn({ CONFIRMATION_DAYS: '31' })).toHaveLength(1)
  expect(load({ CONFIRMATION_DAYS: '30' }).config.confirmationDays).toBe(30)
})

test.each([
  ['http://signup.example.org', 1],
  ['http://localhost:3000', 0],
  ['https://signup.example.org', 0],
])('a public URL of %s gives %s warnings', (url, count) => {
  expect(load({ PUBLIC_URL: url }).config.warnings).toHaveLength(count)
})

test('no problem shows the password of the mail server', () => {
  const variables = { CONFIRMATION: 'mail', MAIL_URL: 'smtp://me:hunter2hunter2@host/x' }
  expect(() => load(variables)).toThrow(/MAIL_URL/)
  expect(() => load(variables)).not.toThrow(/hunter2/)
})
