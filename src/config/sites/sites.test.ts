import { generateKeyPairSync } from 'node:crypto'
import { inspect } from 'node:util'
import { expect, test } from 'vitest'
import type { SettingProblem } from '../problem.ts'
import { noAddress } from '../google-key/sign-in.ts'
import { SettingsReader, type Variables } from '../reader.ts'
import { type Sites, readSites } from './sites.ts'

const pem = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({
  type: 'pkcs8',
  format: 'pem',
})
const account = (email: string) => JSON.stringify({ client_email: email, private_key: pem })
const files: Readonly<Record<string, string>> = {
  '/app/ours.json': account('ours@my-project.iam.gserviceaccount.com'),
  '/app/theirs.json': account('theirs@their-project.iam.gserviceaccount.com'),
}
const [first, second] = ['1'.repeat(44), '2'.repeat(44)]

/** Reads these sites with the environment around them. */
function read(json: unknown, more: Variables = {}): Sites & { all: readonly SettingProblem[] } {
  const file = typeof json === 'string' ? json : JSON.stringify(json)
  const variables: Variables = { ROLLCALL_CONFIG: 'rollcall.json', ...more }
  const reader = new SettingsReader(variables)
  const sites = readSites(reader, {
    folder: '/app',
    readText: (path) => {
      const text = path === '/app/rollcall.json' ? file : files[path]
      if (text === undefined) throw Object.assign(new Error('no such file'), { code: 'ENOENT' })
      return text
    },
  })
  return { ...sites, all: reader.problems }
}

/** The problems with their paths, in the order of the file. */
const told = (json: unknown, more?: Variables) =>
  read(json, more).all.map(({ setting, problem }) => `${setting} ${problem}`)

const site = (content: object) => ({ sites: { launch: content } })
const field = (...fields: object[]) => site({ fields })

const twoSites = {
  $schema: './config.schema.json',
  sites: {
    default: {},
    launch: {
      spreadsheet: `https://docs.google.com/spreadsheets/d/${first}/edit`,
      credentialsFile: 'theirs.json',
      defaultTab: 'Waitlist',
      tabs: ['Waitlist', 'Beta', 'beta'],
      maxTabs: 0,
      duplicates: 'ignore',
      origins: ['https://Launch.example', 'http://localhost:8080'],
      challenge: {
        siteKey: '0x4site',
        secretKeyVariable: 'CHALLENGE_SECRET_KEY_LAUNCH',
        hostnames: ['Launch.example'],
      },
      page: { title: 'The launch', accent: '#0a7', name: 'optional', consent: 'I agree.' },
      signupsPerMinute: 5,
      fields: [
        { name: 'company', label: 'Company', required: true, maxLength: 80 },
        { name: 'plan', type: 'choice', options: ['free', 'pro'] },
        { name: 'seats', type: 'number', min: 1, max: 500 },
        { name: 'utm_source' },
      ],
    },
  },
}

const around: Variables = {
  SHEETS_SHEET_ID: second,
  SHEETS_CREDENTIALS_FILE: 'ours.json',
  PAGE_TITLE: 'Ours',
  PAGE_TEXT: 'One mail a month.',
  ALLOWED_ORIGINS: 'https://ours.example',
  CHALLENGE_VERIFY_URL: 'https://challenge.example/verify',
  CHALLENGE_SECRET_KEY_LAUNCH: 'the-secret',
}

test('a site says when it closes, and inherits an overflow tab only with seats', () => {
  const closing = { at: '2026-12-01T18:00:00Z', after: 3, overflowTab: 'Sheet1' }
  expect(told(site({ closing }))).toEqual(['sites.launch.closing.overflowTab is the default tab.'])
  const clash = site({ closing: { after: 3 }, defaultTab: 'Later' })
  expect(told(clash, { OVERFLOW_TAB: 'later' })).toEqual([
    'OVERFLOW_TAB is the default tab of the site launch.',
  ])
  const { sites, all } = read(site({ closing: { after: 3 } }), { OVERFLOW_TAB: 'Later' })
  expect(sites[0]?.site.closing).toEqual({ at: undefined, after: 3, overflowTab: 'Later' })
  const without = read(site({ closing: {} }), { OVERFLOW_TAB: 'Later' })
  expect(without.sites[0]?.site.closing.overflowTab).toBeUndefined()
  expect([...all, ...without.all]).toEqual([])
})

test('a site says what is its own, and the rest comes from the environment', () => {
  const { sites, all } = read(twoSites, around)
  expect(all).toEqual([])
  expect(sites.map((it) => it.site)).toMatchObject([
    {
      name: 'default',
      spreadsheet: { spreadsheetId: second, credentials: { email: /^ours/ } },
      challenge: undefined,
      page: { title: 'Ours', text: 'One mail a month.', name: 'off' },
      defaultTab: 'Sheet1',
      tabs: undefined,
      origins: ['https://ours.example'],
      signupsPerMinute: 60,
      fields: [],
    },
    {
      name: 'launch',
      spreadsheet: { spreadsheetId: first, credentials: { email: /^theirs/ } },
      challenge: {
        ...{ provider: 'turnstile', siteKey: '0x4site', hostnames: ['launch.example'] },
        verifyUrl: 'https://challenge.example/verify',
      },
      page: {
        title: 'The launch',
        consent: 'I agree.',
        text: 'One mail a month.',
        accent: '#00aa77',
        name: 'optional',
      },
      defaultTab: 'Waitlist',
      tabs: ['Waitlist', 'Beta'],
      maxTabs: 0,
      duplicates: 'ignore',
      origins: ['https://launch.example', 'http://localhost:8080'],
      signupsPerMinute: 5,
      fields: [
        { name: 'company', label: 'Company', type: 'text', required: true, maxLength: 80 },
        { name: 'plan', type: 'choice', options: ['free', 'pro'], required: false },
        { name: 'seats', type: 'number', min: 1, max: 500 },
        { name: 'utm_source', type: 'text', maxLength: 500 },
      ],
    },
  ])
  expect(sites.map((it) => it.secrets)).toEqual([
    { signIn: { kind: 'key', email: expect.stringMatching(/^ours/), privateKey: pem } },
    {
      signIn: { kind: 'key', email: expect.stringMatching(/^theirs/), privateKey: pem },
      challengeSecret: 'the-secret',
    },
  ])
  expect(inspect(sites.map((it) => it.site))).not.toMatch(/the-secret|PRIVATE/)
})

test('a site may sign in by a way of its own, or as a person of its own', () => {
  const json = {
    sites: {
      a: { spreadsheet: first, signIn: 'application-default' },
      b: { spreadsheet: second, subject: 'grace@example.com' },
    },
  }
  const { sites, all } = read(json, { SHEETS_CREDENTIALS_FILE: 'ours.json' })
  expect(all).toEqual([])
  const emails = [noAddress, 'grace@example.com']
  expect(sites.map(({ site }) => site.spreadsheet)).toMatchObject(
    emails.map((email) => ({ credentials: { email } })),
  )
  expect(sites.map(({ secrets }) => secrets.signIn)).toMatchObject([
    { kind: 'machine', url: 'http://169.254.169.254' },
    { kind: 'key', privateKey: pem, subject: 'grace@example.com' },
  ])
})

test('a site with a way to sign in of its own acts as nobody whom the environment names', () => {
  const ours = { SHEETS_CREDENTIALS_FILE: 'ours.json', SHEETS_SUBJECT: 'grace@example.com' }
  const { sites, all } = read(
    {
      sites: {
        a: { spreadsheet: first, signIn: 'application-default' },
        b: { spreadsheet: second, credentialsFile: 'theirs.json' },
      },
    },
    ours,
  )
  expect(all).toEqual([])
  expect(sites.map(({ secrets }) => secrets.signIn?.kind)).toEqual(['machine', 'key'])
  expect(inspect(sites, { depth: null })).not.toContain('grace')
})

test('a site of another provider does not take the addresses of the environment’s', () => {
  const challenge = {
    ...{ siteKey: '10000000-ffff-ffff-ffff-000000000001', provider: 'hcaptcha' },
    secretKeyVariable: 'CHALLENGE_SECRET_KEY_LAUNCH',
  }
  const { sites, all } = read(site({ challenge }), {
    CHALLENGE_VERIFY_URL: 'https://turnstile.example/verify',
    CHALLENGE_SECRET_KEY_LAUNCH: '0x0000000000000000000000000000000000000000',
  })
  expect(all).toEqual([])
  expect(sites[0]?.site.challenge).toMatchObject({ provider: 'hcaptcha', verifyUrl: undefined })
})

test('messages name what a site says by its place in the file, its secret by its variable, and the rest as the environment does', () => {
  const challenge = { siteKey: '0x4site', secretKeyVariable: 'CHALLENGE_SECRET_KEY_LAUNCH' }
  const { sites } = read(site({ challenge, origins: ['https://launch.example'] }), {
    CHALLENGE_HOSTNAMES: 'launch.example',
    CHALLENGE_SECRET_KEY_LAUNCH: '0x4secret',
  })
  expect(sites[0]?.site.settingNames).toEqual({
    SHEETS_SHEET_ID: 'SHEETS_SHEET_ID',
    ALLOWED_ORIGINS: 'sites.launch.origins',
    CHALLENGE_PROVIDER: 'CHALLENGE_PROVIDER',
    CHALLENGE_SITE_KEY: 'sites.launch.challenge.siteKey',
    CHALLENGE_SECRET_KEY: 'CHALLENGE_SECRET_KEY_LAUNCH',
    CHALLENGE_HOSTNAMES: 'CHALLENGE_HOSTNAMES',
  })
})

test('a site has the proof of work without keys, and the others have what the environment says', () => {
  const { sites, all } = read(
    { sites: { a: { challenge: { provider: 'altcha' } }, b: {} } },
    { CHALLENGE_SITE_KEY: '0x4site', CHALLENGE_SECRET_KEY: '0x4secret' },
  )
  expect(all).toEqual([])
  expect(sites.map((it) => it.site.challenge?.provider)).toEqual(['altcha', 'turnstile'])
  expect(sites.map(({ secrets }) => secrets.challengeSecret)).toEqual([undefined, '0x4secret'])
})

test('with altcha in the environment, a site may have a provider with keys, also in the variable of the environment', () => {
  const challenge = {
    ...{ siteKey: '0x4site', provider: 'turnstile' },
    secretKeyVariable: 'CHALLENGE_SECRET_KEY',
  }
  const { sites, all } = read(
    { sites: { a: { challenge }, b: {} } },
    { CHALLENGE_PROVIDER: 'altcha', CHALLENGE_SECRET_KEY: '0x4secret' },
  )
  expect(all).toEqual([])
  expect(sites.map((it) => it.site.challenge?.provider)).toEqual(['turnstile', 'altcha'])
})

test('keys and hosts beside altcha are refused at their paths, also when altcha comes from the environment', () => {
  const keys = { siteKey: '0x4site', secretKeyVariable: 'CHALLENGE_SECRET_KEY_A' }
  const challenge = { provider: 'altcha', ...keys, hostnames: ['example.com'] }
  const what = 'is set, and the challenge is altcha, which has no use for it.'
  expect(told(site({ challenge }))).toEqual(
    ['siteKey', 'hostnames', 'secretKeyVariable'].map(
      (key) => `sites.launch.challenge.${key} ${what}`,
    ),
  )
  expect(told(site({ challenge: keys }), { CHALLENGE_PROVIDER: 'altcha' })).toEqual([
    `sites.launch.challenge.siteKey ${what}`,
    `sites.launch.challenge.secretKeyVariable ${what}`,
  ])
})

test('a challenge without keys is refused unless it says altcha itself', () => {
  const missing = ['siteKey', 'secretKeyVariable'].map(
    (key) => `sites.launch.challenge.${key} is missing.`,
  )
  expect(told(site({ challenge: {} }))).toEqual(missing)
  expect(told(site({ challenge: { provider: 'hcaptcha' } }))).toEqual(missing)
})

test('an entry of origins that looks like two is refused', () => {
  const origins = ['https://a.example,b.example']
  expect(told(site({ origins }))).toEqual(['sites.launch.origins[0] is not a web origin.'])
})

test('a star among origins allows all, and stands alone', () => {
  expect(read(site({ origins: ['*'] })).sites[0]?.site.origins).toBe('*')
})

test('only variables for secret keys of challenges can be read by the file', () => {
  for (const secretKeyVariable of ['SHEETS_PRIVATE_KEY', 'MY_CHALLENGE_SECRET_KEY', 'API_KEYS']) {
    expect(told(site({ challenge: { siteKey: '0x4site', secretKeyVariable } }))).toEqual([
      'sites.launch.challenge.secretKeyVariable is not the name of a variable that begins with CHALLENGE_SECRET_KEY.',
    ])
  }
})

test('every problem of the file and of the environment is told at once, with its path', () => {
  const json = {
    fieldz: [],
    sites: {
      Launch: { defaulTab: 'x', secretKey: 'abc', spreadsheet: 'x', maxTabs: -1, tabs: 'Beta' },
      launch: {
        ...{ page: { titel: 'x', accent: 'red' }, signupsPerMinute: 1.5, duplicates: 'append ' },
        ...{ origins: ['*', 'https://a.example/b'], challenge: { secretKeyVariable: 'my secret' } },
      },
      blog: null,
    },
  }
  expect(told(json, { MAX_SHEET_TABS: 'many' })).toEqual([
    'sites.Launch is not the name of a site.',
    'sites.Launch.spreadsheet is not the id or the URL of a Google spreadsheet.',
    'sites.Launch.tabs is not a list with 1 to 1,000 entries.',
    'sites.Launch.maxTabs is not a whole number from 0 to 10,000.',
    'sites.Launch.defaulTab is no key of this file.',
    'sites.Launch.secretKey is no key of this file.',
    'sites.launch.origins[0] is not a web origin.',
    'sites.launch.origins[1] is not a web origin.',
    'sites.launch.signupsPerMinute is not a whole number from 0 to 1,000,000.',
    'sites.launch.duplicates is not one of append, ignore.',
    'sites.launch.challenge.secretKeyVariable is not the name of a variable that begins with CHALLENGE_SECRET_KEY.',
    'sites.launch.challenge.siteKey is missing.',
    'sites.launch.page.accent is not a colour.',
    'sites.launch.page.titel is no key of this file.',
    'sites.blog is not an object.',
    'fieldz is no key of this file.',
    'SHEETS_CREDENTIALS_FILE is missing, and so is every other way to sign in.',
    'MAX_SHEET_TABS is not a whole number from 0 to 10,000.',
  ])
  const { all } = read(json)
  expect(all.find(({ setting }) => setting.endsWith('titel'))?.expected).toBe('did you mean title?')
  // `.env` has its own problem about a value that begins with #.
  expect(all.find(({ setting }) => setting.endsWith('accent'))?.hint).not.toContain('.env')
  expect(JSON.stringify(all)).not.toMatch(/my secret|abc/)
})

test('what is wrong with several sites or fields is told beside what is wrong with one of them', () => {
  const fields = [
    { name: 'email' },
    { name: 'b', label: 'Tags', min: 1 },
    { name: 'B', type: 'number', min: '1' },
    { name: 'c', type: 'choice', options: ['x', 'x', 'y\nz'] },
  ]
  const json = {
    sites: {
      a: { spreadsheet: first, color: 'red', credentialsFile: 'none.json' },
      b: { spreadsheet: first, maxTabs: -1, fields },
      c: {
        spreadsheet: 'none',
        challenge: { siteKey: 'x', secretKeyVariable: 'CHALLENGE_SECRET_KEY_C' },
      },
    },
  }
  expect(told(json, { SHEETS_CREDENTIALS_FILE: 'ours.json' })).toEqual([
    'sites.a.color is no key of this file.',
    'sites.b.maxTabs is not a whole number from 0 to 10,000.',
    'sites.b.fields[0].name is a name that Rollcall or JavaScript uses.',
    'sites.b.fields[1].min is for "type": "number".',
    'sites.b.fields[2].min is not a number.',
    'sites.b.fields[3].options[2] has control characters in it.',
    'sites.b.fields[3].options[1] is in the list twice.',
    'sites.b.fields[1].label is the name or the heading of another column.',
    'sites.b.fields[2].name is the name or the heading of another column.',
    'sites.c.spreadsheet is not the id or the URL of a Google spreadsheet.',
    'sites.a.credentialsFile names a file that does not exist (relative paths begin at /app).',
    'sites.b.spreadsheet is the spreadsheet of the site a already.',
    'CHALLENGE_SECRET_KEY_C is missing, and the challenge of a site names it.',
  ])
})

const choice = (...options: unknown[]) => ({ name: 'a', type: 'choice', options })
const taken = 'is the name or the heading of another column.'

test.each<[object, string]>([
  [{ label: 'x' }, 'name is missing.'],
  [{ name: '1st' }, 'name is not the name of a field.'],
  [{ name: 'a', label: 'e Mail' }, `label ${taken}`],
  [{ name: 'a', label: 'x\ny' }, 'label has control characters in it.'],
  [{ name: 'a', label: 5 }, 'label is not a text between quotes.'],
  [
    { name: 'a', label: { en: 'A', xx: 'B' } },
    'label.xx is not one of en, de, fr, es, pt, it, nl, pl, tr, ar, hi, ja, ko, zh.',
  ],
  [{ name: 'a', help: {} }, 'help is not a text by language.'],
  [
    { name: 'a', type: 'choise' },
    'type is not one of text, textarea, choice, choices, number, checkbox, url, date, phone.',
  ],
  [{ name: 'a', mim: 1 }, 'mim is no key of this file.'],
  [{ name: 'a', type: 'number', maxLength: 5 }, 'maxLength is for "type": "text" or "textarea".'],
  [{ name: 'a', maxLength: 0 }, 'maxLength is not a whole number from 1 to 2,000.'],
  [{ name: 'a', maxLength: 2001 }, 'maxLength is not a whole number from 1 to 2,000.'],
  [{ name: 'a', type: 'number', min: 2, max: 1 }, 'max is less than min.'],
  [
    { name: 'a', type: 'date', placeholder: 'x' },
    'placeholder is for "type": "text" or "textarea" or "number" or "url" or "phone".',
  ],
  [{ name: 'a', type: 'choice' }, 'options is missing.'],
  [choice(), 'options is not a list with 1 to 200 entries.'],
  [choice({ en: 'A', de: 'B' }, 'B', { en: 'A' }), 'options[2] is in the list twice.'],
  [choice({ en: 'A', ar: 5 }), 'options[0].ar is not a text between quotes.'],
  [choice({ en: 'x'.repeat(201) }), 'options[0].en is too long.'],
  [{ ...choice('x', 'y, z'), type: 'choices' }, 'options[1] has a comma.'],
])('a field is refused: %j', (wrong, problem) => {
  expect(told(field(wrong))).toEqual([`sites.launch.fields[0].${problem}`])
})

test('a missing key of a field or of a challenge names the page with an example', () => {
  const challenge = { secretKeyVariable: 'CHALLENGE_SECRET_KEY' }
  const { all } = read(site({ fields: [{ name: 'a', type: 'choice' }], challenge }))
  const hints = all.map(({ setting, hint }) => [setting.split('.').at(-1), hint])
  expect(hints).toEqual([
    ['siteKey', 'docs/sites.md has an example.'],
    ['options', 'docs/forms.md has an example.'],
  ])
})

test('names of Rollcall and of JavaScript are refused for fields', () => {
  const names = ['email', 'SheetTab', 'site', 'cf-turnstile-response', 'constructor', 'toString']
  const problems = told(field(...names.map((name) => ({ name, label: `My ${name}` }))))
  expect(problems).toEqual(
    names.map(
      (_, at) => `sites.launch.fields[${at}].name is a name that Rollcall or JavaScript uses.`,
    ),
  )
})

test.each<[object, object, string]>([
  [{ name: 'a', label: 'x' }, { name: 'A' }, `name ${taken}`],
  [{ name: 'aB' }, { name: 'b', label: 'A b' }, `label ${taken}`],
  [{ name: 'a', label: { de: 'Firma', en: 'C' } }, { name: 'b', label: 'firma' }, `label ${taken}`],
])('two fields have names and headings of their own: %j and %j', (one, other, problem) => {
  expect(told(field(one, other))).toEqual([`sites.launch.fields[1].${problem}`])
})

test('where signups are confirmed by mail no field has the heading of the column of these times', () => {
  const fields = [{ name: 'a' }, { name: 'b', label: { en: ' confirmed', de: 'Bestätigt' } }]
  const problem =
    'sites.launch.fields[1] has the heading Confirmed, which is that of the times of confirmation.'
  expect(told(site({ confirmation: 'mail', fields }))).toEqual([problem])
  expect(told(site({ fields }), { CONFIRMATION: 'mail' })).toEqual([problem])
  expect(told(site({ fields }))).toEqual([])
})

test('a site has at most twenty fields', () => {
  const fields = Array.from({ length: 21 }, (_, at) => ({ name: `f${at}` }))
  expect(told(field(...fields.slice(1)))).toEqual([])
  expect(told(field(...fields))).toEqual([
    'sites.launch.fields is not a list with 0 to 20 entries.',
  ])
})

const ours = { SHEETS_CREDENTIALS_FILE: 'ours.json' }

test.each<[string, object, Variables, string[]]>([
  [
    'two sites without a spreadsheet, where the environment has one',
    { a: {}, b: {} },
    { ...ours, SHEETS_SHEET_ID: first },
    [
      'sites.b.spreadsheet is missing, and SHEETS_SHEET_ID is the spreadsheet of the site a already.',
    ],
  ],
  [
    'no spreadsheet, and an account',
    { a: {} },
    ours,
    ['sites.a.spreadsheet is missing, and other SHEETS_ settings are set.'],
  ],
  [
    'a spreadsheet, and no account',
    { a: { spreadsheet: first } },
    {},
    ['SHEETS_CREDENTIALS_FILE is missing, and so is every other way to sign in.'],
  ],
  ['no site', {}, {}, ['sites is not 1 to 1,000 sites.']],
])('sites are refused together: %s', (_, sites, variables, problems) => {
  expect(told({ sites }, variables)).toEqual(problems)
})

test.each([
  ['{"sites": {"a": {}},}', /is not valid JSON \(at position 20\)\./],
  ['{"sites": {"a": {"defaultTab": "two', /is not valid JSON/],
  ['[]', /not a JSON object\./],
  ['{\0"\0s\0', /not text in UTF-8\./],
  [`{"sites":${' '.repeat(1_048_576)}{}}`, /longer than 1 MiB\./],
])('a file is refused that is not such JSON: %.40s', (json, problem) => {
  expect(told(json)).toEqual([expect.stringMatching(problem)])
})

test('a byte order mark is no part of the JSON, and the JSON itself may be the setting', () => {
  const json = '{"sites":{"launch":{}}}'
  expect(read(`\uFEFF${json}`).sites).toHaveLength(1)
  expect(read('', { ROLLCALL_CONFIG: json }).sites).toMatchObject([{ site: { name: 'launch' } }])
})

test('a thousand sites are read, and one more is refused', () => {
  const sites = (count: number) => ({
    sites: Object.fromEntries(Array.from({ length: count }, (_, at) => [`site-${at}`, {}])),
  })
  expect(read(sites(1_000)).sites).toHaveLength(1_000)
  expect(told(sites(1_001))).toEqual(['sites is not 1 to 1,000 sites.'])
})
