import { generateKeyPairSync } from 'node:crypto'
import { inspect } from 'node:util'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { limits } from '../signup/limits.ts'
import { loadConfig, startNotes } from './config.ts'
import { parseEnvFile } from './env/env-file.ts'
import { ConfigError, type SettingProblem } from './problem.ts'
import type { Variables } from './reader.ts'
import { settingNames, settings } from './settings.ts'
import { environmentNames } from '../signup/setting-names.ts'

const pem = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({
  type: 'pkcs8',
  format: 'pem',
})
const email = 'rollcall@my-project.iam.gserviceaccount.com'
const json = JSON.stringify({ type: 'service_account', client_email: email, private_key: pem })
const id = '1AbCdEfGhIjKlMnOpQrStUvWxYz0123456789-_AbCdE'
const pair = {
  SHEETS_SHEET_ID: id,
  SHEETS_CREDENTIALS_EMAIL: email,
  SHEETS_PRIVATE_KEY: pem.replaceAll('\n', '\\n'),
}
const challenge = { CHALLENGE_SITE_KEY: 'site', CHALLENGE_SECRET_KEY: 'secret' }
const fromFile = { SHEETS_SHEET_ID: id, SHEETS_CREDENTIALS_FILE: 'key.json' }

const files: Readonly<Record<string, string>> = {
  '/app/key.json': json,
  '/etc/key.json': json,
  '/app/key.pem': pem,
  '/app/client.json': '{"installed":{"client_secret":"x"}}',
  '/app/empty.json': '',
  '/app/rollcall.json': '{ "sites": { "default": {} } }',
}

function load(variables: Variables, envText = '') {
  const envFile = parseEnvFile(envText)
  return loadConfig({
    variables: { ...envFile.variables, ...variables },
    envFile,
    folder: '/app',
    readText: (path) => {
      const text = files[path]
      if (text === undefined) throw Object.assign(new Error('no such file'), { code: 'ENOENT' })
      return text
    },
  })
}

/** What is wrong with these settings. Fails when nothing is. */
function refusal(variables: Variables, envText?: string): ConfigError {
  try {
    load(variables, envText)
  } catch (error) {
    if (error instanceof ConfigError) return error
    throw error
  }
  throw new Error('These settings were accepted.')
}

const problemsIn = (variables: Variables, envText?: string): readonly SettingProblem[] =>
  refusal(variables, envText).problems
const namesIn = (variables: Variables) => problemsIn(variables).map(({ setting }) => setting)

test('a secret key that no site names is told, as its challenge does not run', () => {
  const secretKeyVariable = 'CHALLENGE_SECRET_KEY_LAUNCH'
  const { config } = load({
    ROLLCALL_CONFIG: JSON.stringify({
      sites: { launch: { challenge: { siteKey: '0x4site', secretKeyVariable } }, blog: {} },
    }),
    CHALLENGE_SECRET_KEY_LAUNCH: '0x0000000000000000000000000000000000',
    CHALLENGE_SECRET_KEY_BLOG: '0x0000000000000000000000000000000001',
  })
  expect(config.warnings).toEqual([
    "CHALLENGE_SECRET_KEY_BLOG is the secret key of no site. Remove it, or name it in a site's challenge.",
  ])
})

test('a secret that no webhook names is told', () => {
  const { config } = load({
    ROLLCALL_CONFIG: JSON.stringify({
      sites: {
        launch: { webhooks: [{ url: 'https://a.example', secretVariable: 'WEBHOOK_SECRET_A' }] },
      },
    }),
    WEBHOOK_SECRET_A: `whsec_${'a'.repeat(32)}`,
    WEBHOOK_SECRET_B: `whsec_${'b'.repeat(32)}`,
  })
  expect(config.warnings).toEqual([
    "WEBHOOK_SECRET_B is the secret of no site. Remove it, or name it in a site's webhooks.",
  ])
})

test('without settings, rows go to the local workbook, and all defaults apply', () => {
  expect(load({})).toEqual({
    config: {
      sites: [
        {
          name: 'default',
          spreadsheet: { kind: 'workbook' },
          page: { name: 'off' },
          spam: { filter: 'log', tab: 'Quarantine' },
          confirmation: 'off',
          mail: {},
          defaultTab: 'Sheet1',
          tabs: undefined,
          maxTabs: 100,
          duplicates: 'append',
          origins: '*',
          signupsPerMinute: 60,
          fields: [],
          settingNames: environmentNames,
        },
      ],
      hasSites: false,
      bulkItemsMax: limits.bulkItemsMax,
      dataDir: '/app/data',
      retentionDays: 0,
      confirmationDays: 7,
      host: '0.0.0.0',
      port: 3000,
      bodyBytesMax: limits.bodyBytesMax,
      trustedProxies: 0,
      allowedHosts: undefined,
      logLevel: 'info',
      logFormat: undefined,
      logColours: true,
      warnings: [],
    },
    secrets: { apiKeys: [], sites: new Map([['default', {}]]) },
  })
})

test('with an address and a key, rows go to Google Sheets, and the key is not in the printable settings', () => {
  const { config, secrets } = load(pair)
  expect(config.sites[0].spreadsheet).toEqual({
    kind: 'google',
    spreadsheetId: id,
    credentials: { email },
    apiUrl: 'https://sheets.googleapis.com',
    tokenUrl: 'https://oauth2.googleapis.com/token',
    quota: { perMinute: 50, perDay: 10_000 },
  })
  expect(secrets).toEqual({ sites: new Map([['default', { privateKey: pem }]]), apiKeys: [] })
  expect(inspect(config, { depth: null })).not.toContain('PRIVATE KEY')
})

test('each setting changes its part of the configuration', () => {
  const { config, secrets } = load({
    ...pair,
    SHEETS_SHEET_ID: ` "https://docs.google.com/spreadsheets/d/${id}/edit#gid=0" `,
    SHEETS_REQUESTS_PER_MINUTE: '60',
    SHEETS_REQUESTS_PER_DAY: '200',
    SHEETS_API_URL: 'http://127.0.0.1:8080/',
    SHEETS_TOKEN_URL: 'http://127.0.0.1:8080/token',
    DEFAULT_SHEET_TAB: ' Waiting list ',
    SHEET_TABS: 'News, Events',
    API_KEYS: 'the-first-long-key,the-second-long-key',
    METRICS_TOKEN: 'a-token-for-metrics-key',
    DATA_DIR: '/var/lib/rollcall',
    PORT: '0',
    ALLOWED_HOSTS: 'Signup.example.com, localhost:3000',
    PAGE_TITLE: ' The letter ',
    PAGE_LANGUAGE: 'DE',
  })
  expect(config.sites).toMatchObject([
    {
      spreadsheet: {
        spreadsheetId: id,
        apiUrl: 'http://127.0.0.1:8080',
        tokenUrl: 'http://127.0.0.1:8080/token',
        quota: { perMinute: 60, perDay: 200 },
      },
      page: { title: 'The letter', language: 'de' },
      defaultTab: 'Waiting list',
      defaultTabOf: undefined,
      tabs: ['News', 'Events'],
    },
  ])
  expect(config).toMatchObject({
    dataDir: '/var/lib/rollcall',
    port: 0,
    allowedHosts: ['signup.example.com', 'localhost:3000'],
    warnings: [],
  })
  expect(secrets).toMatchObject({
    apiKeys: ['the-first-long-key', 'the-second-long-key'],
    metricsToken: 'a-token-for-metrics-key',
  })
  expect(inspect(config, { depth: null })).not.toContain('-key')
})

test('an empty value, white space and a pair of quotes around nothing count as unset', () => {
  const { config } = load({ SHEETS_SHEET_ID: '', SHEETS_PRIVATE_KEY: '""', PORT: ' ', HOST: "''" })
  expect(config.sites[0].spreadsheet.kind).toBe('workbook')
  expect(config).toMatchObject({ host: '0.0.0.0', port: 3000 })
})

test.each<[string, Variables]>([
  ['the whole key file as the key', { SHEETS_SHEET_ID: id, SHEETS_PRIVATE_KEY: json }],
  ['the whole key file as the key, with its address', { ...pair, SHEETS_PRIVATE_KEY: json }],
  ['the key file', fromFile],
  ['its absolute path', { ...fromFile, SHEETS_CREDENTIALS_FILE: '/etc/key.json' }],
  [
    'the file for Google’s own tools',
    { SHEETS_SHEET_ID: id, GOOGLE_APPLICATION_CREDENTIALS: 'key.json' },
  ],
  ['the pair before that file', { ...pair, GOOGLE_APPLICATION_CREDENTIALS: 'missing.json' }],
  ['our file before that file', { ...fromFile, GOOGLE_APPLICATION_CREDENTIALS: 'missing.json' }],
])('the service account is read from %s', (_, variables) => {
  const { config, secrets } = load(variables)
  expect(config.sites[0].spreadsheet).toMatchObject({ kind: 'google', credentials: { email } })
  expect(secrets.sites.get('default')).toEqual({ privateKey: pem })
})

test('GOOGLE_APPLICATION_CREDENTIALS alone is ignored, because it may be for other programs', () => {
  const { config } = load({ GOOGLE_APPLICATION_CREDENTIALS: 'missing.json' })
  expect(config.sites[0].spreadsheet).toEqual({ kind: 'workbook' })
})

test.each<[Variables, string[]]>([
  [{ SHEETS_SHEET_ID: id }, ['SHEETS_PRIVATE_KEY', 'SHEETS_CREDENTIALS_EMAIL']],
  [{ ...pair, SHEETS_SHEET_ID: '' }, ['SHEETS_SHEET_ID']],
  [{ ...pair, SHEETS_PRIVATE_KEY: '' }, ['SHEETS_PRIVATE_KEY']],
  [{ ...pair, SHEETS_CREDENTIALS_EMAIL: '' }, ['SHEETS_CREDENTIALS_EMAIL']],
  [
    { SHEETS_REQUESTS_PER_DAY: '5' },
    ['SHEETS_SHEET_ID', 'SHEETS_PRIVATE_KEY', 'SHEETS_CREDENTIALS_EMAIL'],
  ],
  [
    { ...pair, SHEETS_PRIVATE_KEY: '', GOOGLE_APPLICATION_CREDENTIALS: 'key.json' },
    ['SHEETS_PRIVATE_KEY'],
  ],
  [{ SHEETS_CREDENTIALS_FILE: 'key.json' }, ['SHEETS_SHEET_ID']],
])(
  'incomplete settings of Google Sheets are refused with all that is missing: %j',
  (given, names) => {
    const problems = problemsIn(given)
    expect(problems.map(({ setting }) => setting)).toEqual(names)
    for (const it of problems) {
      expect(it).toMatchObject({ problem: expect.stringMatching(/^is missing/), given: 'nothing' })
    }
  },
)

const ofFile = (path: string) => ({ ...fromFile, SHEETS_CREDENTIALS_FILE: path })

test.each<[string, Variables, string, RegExp]>([
  ['a missing file', ofFile('no.json'), 'SHEETS_CREDENTIALS_FILE', /does not exist .*\/app/],
  ['an OAuth client', ofFile('client.json'), 'SHEETS_CREDENTIALS_FILE', /without private_key/],
  ['an empty file', ofFile('empty.json'), 'SHEETS_CREDENTIALS_FILE', /it is empty/],
  ['a bare key', ofFile('key.pem'), 'SHEETS_CREDENTIALS_FILE', /without the address/],
  ['a file as its path', ofFile(json), 'SHEETS_CREDENTIALS_FILE', /holds a key/],
  [
    'a missing file for Google’s tools',
    { SHEETS_SHEET_ID: id, GOOGLE_APPLICATION_CREDENTIALS: 'no.json' },
    'GOOGLE_APPLICATION_CREDENTIALS',
    /does not exist/,
  ],
  ['a file and a pair', { ...pair, ...fromFile }, 'SHEETS_CREDENTIALS_FILE', /set together/],
  [
    'a file and an address',
    { ...fromFile, SHEETS_CREDENTIALS_EMAIL: email },
    'SHEETS_CREDENTIALS_FILE',
    /set together/,
  ],
  [
    'another address than the one of the JSON',
    { ...pair, SHEETS_PRIVATE_KEY: json, SHEETS_CREDENTIALS_EMAIL: 'other@example.com' },
    'SHEETS_CREDENTIALS_EMAIL',
    /not the account/,
  ],
  [
    'JSON with an address that is none',
    { SHEETS_SHEET_ID: id, SHEETS_PRIVATE_KEY: json.replace('@', '') },
    'SHEETS_PRIVATE_KEY',
    /client_email.*not an email/,
  ],
  [
    'a damaged JSON without an address beside it',
    { SHEETS_SHEET_ID: id, SHEETS_PRIVATE_KEY: json.slice(0, 500) },
    'SHEETS_PRIVATE_KEY',
    /JSON/,
  ],
])('a service account that cannot be used is refused: %s', (_, variables, setting, problem) => {
  expect(problemsIn(variables)).toEqual([
    expect.objectContaining({ setting, problem: expect.stringMatching(problem) }),
  ])
})

test('the address beside the JSON may be written in another case', () => {
  const written = { SHEETS_PRIVATE_KEY: json, SHEETS_CREDENTIALS_EMAIL: email.toUpperCase() }
  expect(() => load({ ...pair, ...written })).not.toThrow()
})

test('the problem says whether a key file is missing or may not be read', () => {
  const readText = () => {
    throw Object.assign(new Error('permission denied'), { code: 'EACCES' })
  }
  expect(() => loadConfig({ variables: fromFile, folder: '/app', readText })).toThrow(
    'cannot be read (EACCES)',
  )
})

test('all problems are reported at once', () => {
  const variables = {
    SHEETS_SHEET_ID: 'Signups',
    SHEETS_CREDENTIALS_EMAIL: 'rollcall',
    SHEETS_PRIVATE_KEY: 'none',
    SHEETS_TOKEN_URL: 'token',
    SHEETS_PRIVATEKEY: 'x',
    PORT: 'http',
    LOG_LEVEL: 'loud',
    DATABASE_URL: 'mysql://u:p@h/d',
  }
  expect(namesIn(variables).toSorted()).toEqual(Object.keys(variables).toSorted())
})

test('the message is ready to print: one paragraph for each problem', () => {
  const { message } = refusal({ ...pair, SHEETS_PRIVATE_KEY: pem.slice(0, 900), PORT: '70000' })
  expect(message.split('\n')).toEqual([
    'There are 2 problems in the settings.',
    '',
    expect.stringMatching(/^  SHEETS_PRIVATE_KEY: is incomplete, damaged, .*\.$/),
    '    given:    a text of 900 characters in 15 lines that begins with -----BEGIN PRIVATE KEY-----',
    '    expected: the private key (RSA) of a Google service account',
    expect.stringMatching(/^    do:       Copy it again/),
    '',
    '  PORT: is out of range.',
    '    given:    "70000"',
    '    expected: a whole number from 0 to 65,535',
    '    do:       Choose one from 0 to 65,535, such as 8080.',
  ])
})

test('the hint has an example for the same setting', () => {
  const [verifyUrl, bodyLimit] = problemsIn({ CHALLENGE_VERIFY_URL: 'x', BODY_LIMIT_BYTES: '1' })
  expect(verifyUrl?.hint).toContain('https://challenge.example.com/siteverify')
  expect(bodyLimit?.hint).toBe('Choose one from 1,024 to 16,777,216, such as 65536.')
})

describe('every setting is read', () => {
  const alerts = {
    ALERT_WEBHOOK_URL: 'https://hooks.example.com',
    ALERT_WEBHOOK_SECRET: `whsec_${'k'.repeat(32)}`,
    WEBHOOK_URL: 'https://crm.example.com',
    WEBHOOK_SECRET: `whsec_${'k'.repeat(32)}`,
  }
  const mail = {
    MAIL_URL: 'smtps://smtp.example.com',
    MAIL_FROM: 'hello@example.com',
    PUBLIC_URL: 'https://signup.example.com',
  }
  test.each(settingNames)('%s is refused when it makes no sense', (name) => {
    expect(namesIn({ SHEETS_SHEET_ID: id, [name]: '\u0001' })).toContain(name)
  })

  // The key among the examples is shortened, and there are no such files here.
  const keys = ['SHEETS_PRIVATE_KEY', 'SHEETS_CREDENTIALS_FILE', 'GOOGLE_APPLICATION_CREDENTIALS']
  const secrets = ['ALERT_WEBHOOK_SECRET', 'WEBHOOK_SECRET'] as const
  const known = ['API_KEYS', 'ADMIN_TOKEN', 'METRICS_TOKEN', ...secrets] as const
  test.each(known)('the example of %s is refused, as everybody knows it', (name) => {
    const { example } = settings[name]
    const [problem] = problemsIn({ ...alerts, [name]: example })
    expect(problem).toMatchObject({
      setting: name,
      problem: expect.stringContaining('which everybody knows'),
    })
  })

  const examples = settingNames.filter((name) => ![...keys, ...known].includes(name))
  test.each(examples.map((name) => [name, settings[name].example]))(
    'the example of %s is accepted: %s',
    (name, example) => {
      expect(() =>
        load({ ...pair, ...challenge, ...alerts, ...mail, [name]: example }),
      ).not.toThrow()
    },
  )
})

test('a problem of a misspelt name in .env tells its line when the name may be part of a key', () => {
  const [problem] = problemsIn({}, 'PORT=3000\nROLLCALL_MIIEvQIBADAN=x')
  expect(problem).toMatchObject({ setting: '.env, line 2', given: 'a value that is not shown' })
})

test('no problem shows a part of a key, in whatever variable the key is', () => {
  const body = pem.replace(/-----.*-----|\n/g, '')
  const wrap = fc.constantFrom<(text: string) => string>(
    (text) => text,
    (text) => JSON.stringify(text),
    (text) => `'${text}`,
    (text) => text.replaceAll('\n', '\\n'),
    (text) => text.replace(/\s/g, ''),
    (text) => `https://docs.google.com/${text}`,
    (text) => `https://user:${text}@example.com/`,
  )
  const whole = fc.constantFrom(pem, json, body, Buffer.from(pem).toString('base64url'))
  // Any part of it, from a whole line of a key on: shorter ones cannot be told from an id.
  const part = fc
    .tuple(whole, fc.nat(2000), fc.integer({ min: 80, max: 3000 }))
    .map(([text, start, length]) => text.slice(start % (text.length - 80)).slice(0, length))
  const name = fc.constantFrom(...settingNames, 'SHEETS_PRIVATEKEY')
  const variables = fc.dictionary(
    name,
    fc.tuple(fc.oneof(whole, part), wrap).map(([text, change]) => change(text)),
    { minKeys: 1, maxKeys: 4 },
  )

  let refusals = 0
  fc.assert(
    fc.property(variables, (given) => {
      try {
        load(given)
      } catch (error) {
        refusals++
        const told = `${String(error)} ${JSON.stringify(error)} ${inspect(error, { depth: null })}`
        const texts = Object.values(given).flatMap(
          (text) => text.match(/[A-Za-z0-9+/_]{24}/g) ?? [],
        )
        expect(texts.filter((text) => told.includes(text))).toEqual([])
      }
    }),
    { numRuns: 400 },
  )
  expect(refusals).toBeGreaterThan(200)
})

describe('a file with sites', () => {
  const sites = { a: { challenge: { siteKey: 'x', secretKeyVariable: 'CHALLENGE_SECRET_KEY_A' } } }
  const variables = {
    ROLLCALL_CONFIG: JSON.stringify({ sites: { ...sites, b: {} } }),
    CHALLENGE_SECRET_KEY_A: 'the-secret',
  }

  test('has its sites in the configuration, and their secrets apart', () => {
    const { config, secrets } = load(variables)
    expect(config).toMatchObject({ hasSites: true, sites: [{ name: 'a' }, { name: 'b' }] })
    expect([...secrets.sites]).toEqual([
      ['a', { challengeSecret: 'the-secret' }],
      ['b', {}],
    ])
    expect(inspect(config, { depth: null })).not.toContain('the-secret')
  })

  test('may not write to local workbooks together with a database', () => {
    const url = { DATABASE_URL: 'postgres://rollcall@localhost/rollcall' }
    expect(namesIn({ ...variables, ...url })).toEqual(['DATABASE_URL'])
  })
})

const noted = { signupsPerMinute: 60, origins: '*', settingNames: environmentNames } as const
const quiet = { trustedProxies: 0, allowedHosts: undefined, sites: [noted] } as const

test('a note says that local addresses are not rate-limited, unless there is a proxy or no limit', () => {
  expect(startNotes(quiet)).toEqual([expect.stringContaining('TRUST_PROXY')])
  expect(startNotes({ ...quiet, trustedProxies: 1 })).toEqual([])
  expect(startNotes({ ...quiet, sites: [{ ...noted, signupsPerMinute: 0 }] })).toEqual([])
})

test.each([environmentNames.origins, 'sites.launch.origins'])(
  'a note recommends ALLOWED_HOSTS when only %s is set',
  (setting) => {
    const settingNames = { ...environmentNames, origins: setting }
    const sites = [noted, { ...noted, origins: ['https://example.com'], settingNames }]
    const named = { ...quiet, trustedProxies: 1, sites }
    const start = new RegExp(`^${setting} is set and ALLOWED_HOSTS is not\\.`)
    expect(startNotes(named)).toEqual([expect.stringMatching(start)])
    expect(startNotes({ ...named, allowedHosts: ['signup.example.com'] })).toEqual([])
  },
)
