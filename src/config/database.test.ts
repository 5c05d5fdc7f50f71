import pg from 'pg'
import { describe, expect, test } from 'vitest'
import { readDatabase } from './database.ts'
import { SettingsReader } from './reader.ts'

const files = {
  folder: '/app',
  readText: (path: string) => {
    if (path === '/app/root.pem') return '-----BEGIN CERTIFICATE-----'
    throw new Error('no such file')
  },
}

function read(url: string, hasWorkbook = false) {
  const reader = new SettingsReader({ DATABASE_URL: url })
  const database = readDatabase(reader, files, hasWorkbook)
  return { database, problems: reader.problems }
}

const password = 's3cret-Horse'

test.each([
  ['postgres://u:p@db.example.com/rollcall', 'db.example.com', 'rollcall'],
  ['postgresql://db.example.com:5433/a%20b', 'db.example.com', 'a b'],
  ['postgres://u:p%40%2F%25@127.0.0.1/d', '127.0.0.1', 'd'],
  ['postgres:///d?host=/var/run/postgresql', '/var/run/postgresql', 'd'],
  ['postgres://u:p@h/d?sslmode=verify-full&sslrootcert=root.pem&channel_binding=require', 'h', 'd'],
])('%s is accepted', (url, host, name) => {
  const { database, problems } = read(url)
  expect(problems).toEqual([])
  expect(database?.database).toEqual({ host, name })
})

test.each([
  ['mysql://u:PASSWORD@h/d', /not the URL of a PostgreSQL/, /postgres:\/\//],
  ['postgres:///d', /names no host/, /host/],
  ['postgres://u:PASSWORD@h', /names no database/, /name/],
  ['postgres://u:PASSWORD@h1,h2/d', /several hosts/, /primary/],
  ['postgres://u:PASSWORD/x@h/d', /must be written as a code/, /%2F/],
  ['postgres://u:PASSWORD%@h/d', /must be written as a code/, /%25/],
  ['postgres://u:PASSWORD%00@h/d', /must be written as a code/, /./],
  ['postgres://u:PASSWORD@h/d?sslmode=strict', /unknown sslmode/, /verify-full/],
  ['postgres://u:PASSWORD@h/d?sslrootcert=none.pem', /sslrootcert that cannot be read/, /PEM/],
  [
    'postgres://u:PASSWORD@h/d?sslmode=verify-ca&uselibpqcompat=true',
    /without sslrootcert/,
    /verify-full/,
  ],
  ['postgres://u:PASSWORD@h/d?query_timeout=1', /named query_timeout that .* not take/, /sslmode/],
  [`postgres://h/d?${'PASSWORD'.toLowerCase()}-1=x`, /has a parameter that/, /Remove it/],
])('%s is refused with what to do, and without its password', (url, problem, hint) => {
  const { database, problems } = read(url.replace('PASSWORD', password))
  expect(database).toBeUndefined()
  expect(problems).toEqual([
    expect.objectContaining({
      setting: 'DATABASE_URL',
      problem: expect.stringMatching(problem),
      hint: expect.stringMatching(hint),
    }),
  ])
  expect(JSON.stringify(problems)).not.toContain(password)
})

test('the local workbook is refused together with it', () => {
  const { problems } = read('postgres://u:p@h/d', true)
  expect(problems[0]?.problem).toMatch(/without a Google Sheet.*one machine/)
  expect(problems[0]?.hint).toMatch(/SHEETS_SHEET_ID.*remove DATABASE_URL/)
})

describe('sslmode', () => {
  const host = 'db.example.com'
  const none = undefined
  const unencrypted = /without TLS/
  const unchecked = /does not check who answers/
  test.each([
    ['', false, unencrypted],
    ['?sslmode=disable', false, unencrypted],
    ['?sslmode=no-verify', { rejectUnauthorized: false }, unchecked],
    ['?sslmode=require', {}, none],
    ['?sslmode=verify-full', {}, none],
    ['?sslnegotiation=direct', {}, none],
    ['?sslmode=require&uselibpqcompat=true', { rejectUnauthorized: false }, unchecked],
    ['?sslmode=verify-full&uselibpqcompat=true', {}, none],
  ])('"%s" is what pg makes of it, and a warning when it protects little', (query, ssl, words) => {
    const { database, problems } = read(`postgres://u:p@${host}/d${query}`)
    expect(problems).toEqual([])
    const client = new pg.Client({ connectionString: database?.databaseUrl ?? '' })
    expect(client).toHaveProperty('connectionParameters.ssl', ssl)
    expect(database?.warnings).toEqual(words ? [expect.stringMatching(words)] : [])
  })

  test.each(['localhost', '127.0.0.1', '127.8.8.8', '[::1]'])(
    'no warning about a database on this machine: %s',
    (local) => {
      expect(read(`postgres://u:p@${local}/d`).database?.warnings).toEqual([])
    },
  )
})
