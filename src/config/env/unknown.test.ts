import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { projectRoot } from '../../../harness/source-file.ts'
import type { Variables } from '../reader.ts'
import { settingNames } from '../settings.ts'
import { misnamed } from './unknown.ts'

const told = (variables: Variables, inFile: { name: string; line: number }[] = []) =>
  misnamed(variables, inFile).map((it) =>
    it.replace(' is no setting of Rollcall, so it does nothing.', ':'),
  )

test.each([
  ['sheets_sheet_id', 'SHEETS_SHEET_ID'],
  ['CHALLENGE_SITEKEY', 'CHALLENGE_SITE_KEY'],
  ['ROLLCALL_PORT', 'PORT'],
  ['SHEET_TAB', 'SHEET_TABS'],
  ['ALLOWED_ORIGNIS', 'ALLOWED_ORIGINS'],
  ['allowed-origins', 'ALLOWED_ORIGINS'],
  ['RATE_LIMIT', 'RATE_LIMIT_PER_MINUTE'],
  ['API_KEY', 'API_KEYS'],
  ['GOOGLE_SHEET_ID', 'SHEETS_SHEET_ID'],
  ['TURNSTILE_SECRET_KEY', 'CHALLENGE_SECRET_KEY'],
])('%s was meant to be %s', (name, meant) => {
  expect(told({ [name]: 'x' })).toEqual([`${name}: Did you mean ${meant}?`])
})

// What shells, npm, systemd, Docker, cloud hosts and usual libraries set or read.
test.each(
  `HOSTNAME HOSTTYPE HOSTS PORTS PATH TERM USER LOGNAME LOG_FILE LOG_DIR LOG_PATH LOGGER PAGE_SIZE PAGE_URL
   NODE_ENV npm_config_loglevel npm_config_user_agent DATA_PATH DATA_ROOT XDG_DATA_DIRS PGDATA DATABASE_HOST
   DATABASE_NAME DATABASE_USER DATABASE_PORT DATABASE_PASSWORD REDIS_URL APP_KEY APP_KEYS API_URL API_TOKEN
   SECRET_KEY PRIVATE_KEY SITE_KEY SITE_URL ADMIN_USER ADMIN_EMAIL ALLOWED ORIGINS CORS_ORIGIN SHEET SHEETS
   GOOGLE_CLOUD_PROJECT GOOGLE_API_KEY HTTP_PROXY FORWARDED_ALLOW_IPS
   DD_LOG_LEVEL KC_LOG_LEVEL IMAGE_NAME STAGE_NAME IMAGE_TITLE CI_DATABASE_URL constructor`.split(
    /\s+/,
  ),
)('%s is left to another program', (name) => {
  expect(told({ [name]: 'x' })).toEqual([])
})

test('every name of a setting is right', () => {
  expect(told(Object.fromEntries(settingNames.map((name) => [name, 'x'])))).toEqual([])
})

test('a name like ours is left to another program when our setting is there too, even empty', () => {
  const [both, ours] = [
    { API_KEY: 'x', API_KEYS: '' },
    { SHEETS_SHEETID: 'x', SHEETS_SHEET_ID: '' },
  ]
  expect(told(both)).toEqual([])
  expect(told(ours)).toEqual(['SHEETS_SHEETID: Did you mean SHEETS_SHEET_ID?'])
})

test('of a name that may be part of a key only the place is told', () => {
  const given = { ROLLCALL_MIIEvQIBADAN: 'x', SHEETS_COLOUR: 'x', 'SHEETS_PRIVATE_KEY: "MII': 'x' }
  expect(told(given, [{ name: 'ROLLCALL_MIIEvQIBADAN', line: 2 }])).toEqual([
    'The name in line 2 of .env: docs/configuration.md lists all of them.',
    'SHEETS_COLOUR: docs/configuration.md lists all of them.',
    'A variable of the environment that begins with SHEETS_: docs/configuration.md lists all of them.',
  ])
})

// In the file alone, as elsewhere other programs have such names.
test.each([
  ['SITE_KEY', 'CHALLENGE_SITE_KEY'],
  ['PRIVATE_KEY', 'SHEETS_PRIVATE_KEY'],
  ['GOOGLE_SHEET', 'SHEETS_SHEET_ID'],
  ['SMTP_URL', 'MAIL_URL'],
  ['EMAIL_FROM', 'MAIL_FROM'],
  ['PAGE_COLOUR', 'PAGE_ACCENT'],
  ['HOSTS', 'HOST'],
])('%s in .env was meant to be %s', (name, meant) => {
  expect(told({ [name]: 'x' }, [{ name, line: 3 }])).toEqual([
    `${name} in line 3 of .env: Did you mean ${meant}?`,
  ])
})

test('what Google, Node and Compose take from .env is theirs', () => {
  const names = ['GOOGLE_CLOUD_PROJECT', 'NODE_EXTRA_CA_CERTS', 'COMPOSE_PROFILES', 'SITE', 'TZ']
  const all = Object.fromEntries(names.map((name) => [name, 'x']))
  expect(
    told(
      all,
      names.map((name) => ({ name, line: 1 })),
    ),
  ).toEqual([])
  // What our own files of Compose ask for.
  const files = ['compose.yaml', 'examples/compose/compose.yaml'].map((path) =>
    readFileSync(join(projectRoot, path), 'utf8'),
  )
  const asked = Array.from(files.join('\n').matchAll(/\$\{(\w+)/g), ([, name = '']) => name)
  expect(asked).toContain('SITE')
  for (const name of asked) expect(told({ [name]: 'x' }, [{ name, line: 1 }])).toEqual([])
})

test('the variables for secret keys of sites are known when a file names the sites', () => {
  const key = { CHALLENGE_SECRET_KEY_LAUNCH: 'x' }
  const others = { CHALLENGE_SECRET_KEY2: 'x', ROLLCALL_CONFIG: 'rollcall.json' }
  expect(told(others)).toEqual([])
  expect(told({ ...key, ROLLCALL_CONFIG: 'rollcall.json' })).toEqual([])
  expect(told({ WEBHOOK_SECRET_S: 'x', ROLLCALL_CONFIG: 'rollcall.json' })).toEqual([])
  expect(told(key)).toHaveLength(1)
})

test('variables that Kubernetes makes for a service of that name are left alone', () => {
  const links = {
    ROLLCALL_SERVICE_HOST: '10.0.0.7',
    ROLLCALL_SERVICE_PORT_HTTP: '3000',
    ROLLCALL_PORT: 'tcp://10.0.0.7:3000',
    ROLLCALL_PORT_3000_TCP: 'tcp://10.0.0.7:3000',
    ROLLCALL_PORT_3000_TCP_ADDR: '10.0.0.7',
  }
  expect(told(links)).toEqual([])
})
