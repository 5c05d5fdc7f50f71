import { describe, expect, test } from 'vitest'
import { nearest, nearMiss } from './meant-names.ts'
import { settingNames as names } from '../settings.ts'

describe('finds the setting that a variable clearly means', () => {
  test.each([
    ['SHEET_TAB', 'SHEET_TABS'],
    ['MAX_SHEET_TAB', 'MAX_SHEET_TABS'],
    ['MAX_SHEET', 'MAX_SHEET_TABS'],
    ['DEFAULT_SHEET_TABS', 'DEFAULT_SHEET_TAB'],
    ['ALLOWED_ORIGIN', 'ALLOWED_ORIGINS'],
    ['ALLOW_ORIGINS', 'ALLOWED_ORIGINS'],
    ['ALOWED_ORIGINS', 'ALLOWED_ORIGINS'],
    ['allowed_origins', 'ALLOWED_ORIGINS'],
    ['allowed-origins', 'ALLOWED_ORIGINS'],
    ['ALLOWEDORIGINS', 'ALLOWED_ORIGINS'],
    ['RATE_LIMIT', 'RATE_LIMIT_PER_MINUTE'],
    ['RATE_LIMITS', 'RATE_LIMIT_PER_MINUTE'],
    ['RATE_LIMIT_PER_MINUTES', 'RATE_LIMIT_PER_MINUTE'],
    ['RATELIMIT_PER_MINUTE', 'RATE_LIMIT_PER_MINUTE'],
    ['TRUSTPROXY', 'TRUST_PROXY'],
    ['TRUST_PROXIES', 'TRUST_PROXY'],
    ['TRUST_PORXY', 'TRUST_PROXY'],
    ['API_KEY', 'API_KEYS'],
    ['APIKEYS', 'API_KEYS'],
    ['DUPLICATE', 'DUPLICATES'],
    ['DATADIR', 'DATA_DIR'],
    ['BULKMAX', 'BULK_MAX'],
    ['BODY_LIMIT', 'BODY_LIMIT_BYTES'],
    ['BODY_LIMIT_BYTE', 'BODY_LIMIT_BYTES'],
    ['LOGLEVEL', 'LOG_LEVEL'],
    ['LOG_LEVLE', 'LOG_LEVEL'],
    ['DATABASE_URI', 'DATABASE_URL'],
    ['CHALENGE_SITE_KEY', 'CHALLENGE_SITE_KEY'],
    ['SHEET_SHEET_ID', 'SHEETS_SHEET_ID'],
    ['PAGE_LOGO', 'PAGE_LOGO_URL'],
    ['PAGE_ACENT', 'PAGE_ACCENT'],
    ['GOOGLE_APPLICATION_CREDENTIAL', 'GOOGLE_APPLICATION_CREDENTIALS'],
  ])('%s: %s', (given, meant) => {
    expect(nearMiss(given, names)).toBe(meant)
  })
})

describe('finds no setting for a variable of another program', () => {
  // What shells, npm, systemd, Docker, Kubernetes, cloud hosts and usual libraries set or read.
  test.each(
    `HOSTNAME HOSTTYPE HOSTS HOST_IP PORTS PORT0 SPORT HOME PATH PWD OLDPWD SHELL SHLVL TERM USER
     LOGNAME LOG_FILE LOG_DIR LOG_PATH LOG LOGGER LANG LC_ALL TZ MAIL EDITOR PAGER PAGE
     PAGE_SIZE PAGE_URL DISPLAY INVOCATION_ID JOURNAL_STREAM NOTIFY_SOCKET INIT_CWD COLOR COLORTERM
     NODE NODE_ENV NODE_OPTIONS NODE_PATH npm_config_loglevel npm_package_name npm_lifecycle_event
     npm_config_user_agent KUBERNETES_SERVICE_HOST KUBERNETES_PORT_443_TCP DATA DATA_PATH DATA_ROOT
     XDG_DATA_DIRS XDG_DATA_HOME PGDATA DATABASE DATABASE_HOST DATABASE_NAME DATABASE_USER
     DATABASE_PORT DATABASE_PASSWORD DB_URL REDIS_URL APP_KEY APP_KEYS API_URL API_HOST API_TOKEN
     API_SECRET SECRET_KEY SECRET_KEY_BASE PRIVATE_KEY PUBLIC_KEY SITE_KEY SITE_URL ADMIN ADMIN_USER
     ADMIN_EMAIL ADMIN_PASSWORD DEFAULT_TAB ALLOWED ORIGIN ORIGINS CORS_ORIGIN TRUST SHEET SHEETS
     RATE MAX BULK BODY LIMIT TABS GOOGLE GOOGLE_CLOUD_PROJECT GOOGLE_API_KEY GOOGLE_CLIENT_ID
     AWS_ACCESS_KEY_ID HTTP_PROXY HTTPS_PROXY NO_PROXY SSL_CERT_FILE FORWARDED_ALLOW_IPS
     RAILWAY_PUBLIC_DOMAIN RENDER_EXTERNAL_URL FLY_APP_NAME DYNO WEB_CONCURRENCY VITEST CI SEED`.split(
      /\s+/,
    ),
  )('%s', (given) => {
    expect(nearMiss(given, names)).toBeUndefined()
  })
})

test('no setting looks like a misspelling of another one', () => {
  for (const name of names) {
    const others = names.filter((other) => other !== name)
    expect(nearMiss(name, others), name).toBeUndefined()
  }
})

const few = ['SHEETS_PRIVATE_KEY', 'SHEETS_SHEET_ID', 'PORT', 'HOST']

test.each([
  ['SHEETS_PRIVATEKEY', 'SHEETS_PRIVATE_KEY'],
  ['SHEET_PRIVAT_KEYS', 'SHEETS_PRIVATE_KEY'],
  ['SHEETS_SHETE_ID', 'SHEETS_SHEET_ID'],
  ['PORT', 'PORT'],
  ['PART', 'PORT'],
  ['SHEETS_COLOUR', undefined],
  ['', undefined],
])('%s was probably meant to be %s', (given, meant) => {
  expect(nearest(given, few)).toBe(meant)
})
