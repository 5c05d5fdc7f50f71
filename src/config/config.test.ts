import { generateKeyPairSync } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { inspect } from 'node:util'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { projectRoot } from '../../harness/source-file.ts'
import { limits } from '../signup/limits.ts'
import { loadConfig, startNotes } from './config.ts'
import { parseEnvFile } from './env/env-file.ts'
import { ConfigError, type SettingProblem } from './problem.ts'
import type { Variables } from './reader.ts'
import { settingNames, settings } from './settings.ts'
import { environmentNames } from '../platform/setting-names.ts'

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
      // Lies there only for those who name it.
      const isNamed = path !== '/app/rollcall.json' || variables['ROLLCALL_CONFIG'] !== undefined
      const text = isNamed ? files[path] : undefined
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

/** What the documents give as a token, a key, a secret or a password; test keys of challenges are none. */
function publishedSecrets(): readonly string[] {
  const forms = [
    /\b[A-Z_]*(?:TOKEN|SECRET(?!_KEY)|API_KEYS|PASSWORD)[A-Z_]*["']?[=:] ?["']?([\w.~+/=,-]+)/gi,
    /Bearer ([^\s"'`]+)/g,
    /(whsec_[\w+/=-]+)/g,
    /:\/\/[\w%]+:([^\s@/]+)@/g,
  ]
  const top = ['README.md', 'SECURITY.md', 'CONTRIBUTING.md', '.env.example', 'compose.yaml']
  const paths = [...top, ...globSync('{docs,examples}/**/*.*', { cwd: projectRoot })]
  const texts = paths.map((path) => readFileSync(join(projectRoot, path), 'utf8'))
  const found = texts.flatMap((text) => forms.flatMap((form) => [...text.matchAll(form)]))
  const values = found.flatMap(([, value = '']) => value.split(','))
  // A variable that names another one is no secret.
  return [...new Set(values)].filter((value) => !/^$|^[$<]|^[A-Z]+_SECRET/.test(value))
}

const problemsIn = (variables: Variables, envText?: string): readonly SettingProblem[] =>
  refusal(variables, envText).problems
const namesIn = (variables: Variables) => problemsIn(variables).map(({ setting }) => setting)

test('a secret that no challenge and no webhook of a site names is told', () => {
  const challenge = { siteKey: '0x4site', secretKeyVariable: 'CHALLENGE_SECRET_KEY_LAUNCH' }
  const webhooks = [{ url: 'https://a.example', secretVariable: 'WEBHOOK_SECRET_A' }]
  const { config } = load({
    ROLLCALL_CONFIG: JSON.stringify({ sites: { launch: { challenge, webhooks }, blog: {} } }),
    CHALLENGE_SECRET_KEY_LAUNCH: '0x0000000000000000000000000000000000',
    CHALLENGE_SECRET_KEY_BLOG: '0x0000000000000000000000000000000001',
    WEBHOOK_SECRET_A: `whsec_${'a'.repeat(32)}`,
    WEBHOOK_SECRET_B: `whsec_${'b'.repeat(32)}`,
  })
  expect(config.warnings).toEqual([
    "CHALLENGE_SECRET_KEY_BLOG is the secret key of no site. Remove it, or name it in a site's challenge.",
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
          closing: {},
          page: { name: 'off' },
          spam: { filter: 'log' },
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
      hasAdminPage: false,
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
  const signIn = { kind: 'key', email, privateKey: pem }
  expect(secrets).toEqual({ sites: new Map([['default', { signIn }]]), apiKeys: [] })
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
    PAGE_THANKS: 'Until Sunday.',
    PAGE_OVERFLOW: 'Full!',
    PAGE_CLOSED: 'See you in spring.',
    PAGE_NEXT_URL: 'https://example.com/next',
    PAGE_CONFIRMED_NEXT_URL: 'https://example.com/confirmed',
  })
  expect(config.sites).toMatchObject([
    {
      spreadsheet: {
        spreadsheetId: id,
        apiUrl: 'http://127.0.0.1:8080',
        tokenUrl: 'http://127.0.0.1:8080/token',
        quota: { perMinute: 60, perDay: 200 },
      },
      page: {
        ...{ title: 'The letter', language: 'de' },
        ...{ thanks: 'Until Sunday.', overflow: 'Full!', closed: 'See you in spring.' },
        next: 'https://example.com/next',
        confirmedNext: 'https://example.com/confirmed',
      },
      defaultTab: 'Waiting list',
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
  const signIn = { kind: 'key', email, privateKey: pem }
  expect(secrets.sites.get('default')).toEqual({ signIn })
})

test('GOOGLE_APPLICATION_CREDENTIALS alone is ignored, because it may be for other programs', () => {
  const { config } = load({ GOOGLE_APPLICATION_CREDENTIALS: 'missing.json' })
  expect(config.sites[0].spreadsheet).toEqual({ kind: 'workbook' })
})

test.each<[Variables, string[]]>([
  [{ SHEETS_SHEET_ID: id }, ['SHEETS_CREDENTIALS_FILE']],
  [{ ...pair, SHEETS_SHEET_ID: '' }, ['SHEETS_SHEET_ID']],
  [{ ...pair, SHEETS_PRIVATE_KEY: '' }, ['SHEETS_PRIVATE_KEY']],
  [{ ...pair, SHEETS_CREDENTIALS_EMAIL: '' }, ['SHEETS_CREDENTIALS_EMAIL']],
  [{ SHEETS_REQUESTS_PER_DAY: '5' }, ['SHEETS_SHEET_ID', 'SHEETS_CREDENTIALS_FILE']],
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
    /client_email.*not the email/,
  ],
])('a service account that cannot be used is refused: %s', (_, variables, setting, problem) => {
  expect(problemsIn(variables)).toEqual([
    expect.objectContaining({ setting, problem: expect.stringMatching(problem) }),
  ])
})

test.each<[Variables, string[]]>([
  [{ CLOSES_AFTER: '5', OVERFLOW_TAB: 'Later' }, []],
  [{ OVERFLOW_TAB: 'Later' }, ['is set, and CLOSES_AFTER is not.']],
  [{ CLOSES_AFTER: '5', OVERFLOW_TAB: 'SHEET1' }, ['is the default tab.']],
])('an overflow tab needs seats, and a name of its own: %j', (variables, problems) => {
  const refused = problems.length > 0 ? problemsIn(variables) : []
  if (problems.length === 0) expect(() => load(variables)).not.toThrow()
  expect(refused.map(({ problem }) => problem)).toEqual(problems)
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
    '  PORT: is not a whole number from 0 to 65,535.',
    '    given:    "70000"',
    '    expected: a whole number from 0 to 65,535',
    '    do:       Write it such as 8080.',
  ])
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
  test('every secret of the documents is refused wherever it is set, as everybody knows it', () => {
    const published = publishedSecrets()
    expect(published.length).toBeGreaterThan(6)
    for (const secret of published) {
      const variables = Object.fromEntries(known.map((name) => [name, secret]))
      expect(namesIn({ ...alerts, ...variables })).toEqual(expect.arrayContaining([...known]))
    }
  })

  const examples = settingNames.filter((name) => ![...keys, ...known].includes(name))
  test.each(examples.map((name) => [name, settings[name].example]))(
    'the example of %s is accepted: %s',
    (name, example) => {
      const account = name === 'SHEETS_SIGN_IN' ? { SHEETS_SHEET_ID: id } : pair
      const needed = { CLOSES_AFTER: '5', CHAT_URL: settings.CHAT_URL.example }
      expect(() =>
        load({ ...account, ...challenge, ...alerts, ...mail, ...needed, [name]: example }),
      ).not.toThrow()
    },
  )
})

test('every name in .env that is no setting is a warning, and stands beside the problems of the others', () => {
  const text =
    'CONFIRM=mail\nSMTP_URL=x\nPAGE_COLOR=x\nGOOGLE_SHEET=x\nCRM_ID=x\nCOMPOSE_PROFILES=tls'
  const told = [
    'CONFIRM in line 1 of .env is no setting of Rollcall, so it does nothing. Did you mean CONFIRMATION?',
    'SMTP_URL in line 2 of .env is no setting of Rollcall, so it does nothing. Did you mean MAIL_URL?',
    'PAGE_COLOR in line 3 of .env is no setting of Rollcall, so it does nothing. Did you mean PAGE_ACCENT?',
    'GOOGLE_SHEET in line 4 of .env is no setting of Rollcall, so it does nothing. Did you mean SHEETS_SHEET_ID?',
    'CRM_ID in line 5 of .env is no setting of Rollcall, so it does nothing. docs/configuration.md lists all of them.',
  ]
  expect(load({}, text).config.warnings).toEqual(told)
  for (const line of told) expect(refusal({ PORT: 'x' }, text).message).toContain(line)
})

test('a file of sites that no setting names is a warning', () => {
  const environment = {
    variables: {},
    folder: '/app',
    readText: () => '{ "sites": { "lumen": {} } }',
  }
  expect(loadConfig(environment).config.warnings).toEqual([
    expect.stringContaining('Set ROLLCALL_CONFIG=./rollcall.json'),
  ])
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

const noted = {
  name: 'default',
  signupsPerMinute: 60,
  origins: '*',
  settingNames: environmentNames,
} as const
const quiet = { trustedProxies: 0, allowedHosts: undefined, sites: [noted] } as const

test('a note says that local addresses are not rate-limited, unless there is a proxy or no limit', () => {
  expect(startNotes(quiet)).toEqual([expect.stringContaining('TRUST_PROXY')])
  expect(startNotes({ ...quiet, trustedProxies: 1 })).toEqual([])
  expect(startNotes({ ...quiet, sites: [{ ...noted, signupsPerMinute: 0 }] })).toEqual([])
})

test('a note says that a site has to be named when there are several and no default', () => {
  const proxied = { ...quiet, trustedProxies: 1 }
  const named = (...names: string[]) =>
    startNotes({ ...proxied, sites: names.map((name) => ({ ...noted, name })) })
  expect(named('launch', 'blog')).toEqual([expect.stringContaining('that names no site')])
  expect([named('launch'), named('launch', 'default')]).toEqual([[], []])
})

test.each([environmentNames.ALLOWED_ORIGINS, 'sites.launch.origins'])(
  'a note recommends ALLOWED_HOSTS when only %s is set',
  (setting) => {
    const settingNames = { ...environmentNames, ALLOWED_ORIGINS: setting }
    const sites = [noted, { ...noted, origins: ['https://example.com'], settingNames }]
    const named = { ...quiet, trustedProxies: 1, sites }
    const start = new RegExp(`^${setting} is set and ALLOWED_HOSTS is not\\.`)
    expect(startNotes(named)).toEqual([expect.stringMatching(start)])
    expect(startNotes({ ...named, allowedHosts: ['signup.example.com'] })).toEqual([])
  },
)
