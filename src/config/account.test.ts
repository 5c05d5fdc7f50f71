import { describe, expect, test } from 'vitest'
import { generateKeyPairSync } from 'node:crypto'
import { readAccount } from './account.ts'
import { noAddress } from './google-key/sign-in.ts'
import { SettingsReader, type Variables } from './reader.ts'

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const pem = privateKey.export({ type: 'pkcs8', format: 'pem' })
const robot = 'rollcall@my-project.iam.gserviceaccount.com'
const key = { type: 'service_account', client_email: robot, private_key: pem }
const user = {
  ...{ type: 'authorized_user', client_id: 'a', client_secret: 'b', refresh_token: 'the-token' },
}
const impersonation = {
  service_account_impersonation_url: `https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/${robot}:generateAccessToken`,
}
const pool = {
  type: 'external_account',
  audience: '//iam.googleapis.com/a',
  subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
  token_url: 'https://sts.googleapis.com/v1/token',
  credential_source: { file: '/var/run/token' },
}
const impersonated = {
  type: 'impersonated_service_account',
  ...impersonation,
  source_credentials: user,
}
const gcloud = '/home/ada/.config/gcloud/application_default_credentials.json'

/** The account that these settings and files lead to, and what is wrong with them. */
function read(variables: Variables, files: Readonly<Record<string, unknown>> = {}) {
  const reader = new SettingsReader({ HOME: '/home/ada', ...variables })
  const account = readAccount(reader, {
    folder: '/app',
    readText(path) {
      if (path in files) return JSON.stringify(files[path])
      throw Object.assign(new Error('no such file'), { code: 'ENOENT' })
    },
  })
  return { account, problems: reader.problems }
}

const ofFile = (file: unknown, more: Variables = {}) =>
  read({ SHEETS_CREDENTIALS_FILE: 'file.json', ...more }, { '/app/file.json': file })

const machine = { SHEETS_SIGN_IN: 'application-default' }

describe('the account that writes', () => {
  test.each([
    ['a person, whose address only Google knows', user, noAddress],
    ['a workload that acts as a service account', { ...pool, ...impersonation }, robot],
    ['a workload alone', pool, noAddress],
  ])('may be, by a credentials file, %s', (_, file, email) => {
    const found = { account: { email, signIn: { kind: 'file', file } }, problems: [] }
    expect(ofFile(file)).toEqual(found)
    const named = { GOOGLE_APPLICATION_CREDENTIALS: '/etc/file.json' }
    expect(read(named, { '/etc/file.json': file })).toEqual(found)
  })

  test('may be a service account that a person or another one impersonates, by a key in any form', () => {
    const { service_account_impersonation_url: url } = impersonation
    const byPerson = {
      kind: 'impersonated',
      url,
      delegates: [],
      source: { kind: 'file', file: user },
    }
    expect(ofFile(impersonated).account).toEqual({ email: robot, signIn: byPerson })
    const source_credentials = {
      ...key,
      private_key: privateKey.export({ type: 'pkcs1', format: 'pem' }),
    }
    const file = { ...impersonated, source_credentials, delegates: ['a'] }
    const source = { kind: 'key', email: robot, privateKey: pem }
    expect(ofFile(file).account?.signIn).toEqual({ ...byPerson, delegates: ['a'], source })
  })

  test('may be a person of the domain, as whom a key acts', () => {
    const signIn = { kind: 'key', email: robot, privateKey: pem, subject: 'grace@example.com' }
    const { account } = ofFile(key, { SHEETS_SUBJECT: 'grace@example.com' })
    expect(account).toEqual({ email: 'grace@example.com', signIn })
  })

  test('may be that of the machine: by the file of gcloud, else by the metadata server', () => {
    expect(read(machine, { [gcloud]: user }).account?.signIn).toEqual({ kind: 'file', file: user })
    const config = { CLOUDSDK_CONFIG: '/etc/gcloud' }
    const moved = { '/etc/gcloud/application_default_credentials.json': user }
    expect(read({ ...machine, ...config }, moved).account?.signIn.kind).toBe('file')
    const named = { ...machine, GOOGLE_APPLICATION_CREDENTIALS: '/etc/key.json' }
    expect(read(named, { '/etc/key.json': key }).account?.email).toBe(robot)
    const at = (url: string) => ({ email: noAddress, signIn: { kind: 'machine', url } })
    expect(read(machine).account).toEqual(at('http://169.254.169.254'))
    const host = { GCE_METADATA_HOST: '127.0.0.1:8080' }
    expect(read({ ...machine, ...host }).account).toEqual(at('http://127.0.0.1:8080'))
  })
})

test.each([
  ['an unknown type', { type: 'gdch_service_account' }, /none of service_account, authorized_user/],
  ['no refresh token', { ...user, refresh_token: '' }, /it has no refresh_token\.$/],
  ['no URL', { ...pool, token_url: 'sts' }, /it has a URL that is none/],
  [
    'a program',
    { ...pool, credential_source: { executable: {} } },
    /it has a program or a certificate/,
  ],
  [
    'a certificate',
    { ...pool, credential_source: { certificate: {} } },
    /it has a program or a certificate/,
  ],
  [
    'a source without a token',
    { ...impersonated, source_credentials: { ...user, refresh_token: undefined } },
    /it has source_credentials, where it has no refresh_token/,
  ],
])('a credentials file with %s is refused, and nothing of it is shown', (_, file, problem) => {
  const { account, problems } = ofFile(file)
  expect(account).toBeUndefined()
  expect(problems).toMatchObject([
    { setting: 'SHEETS_CREDENTIALS_FILE', hint: expect.stringContaining('google-setup.md') },
  ])
  expect(problems[0]?.problem).toMatch(problem)
  expect(JSON.stringify(problems)).not.toContain('the-token')
})

test.each<[string, Variables, Readonly<Record<string, unknown>>, string, RegExp]>([
  ['no way', {}, {}, 'SHEETS_CREDENTIALS_FILE', /is missing, and so is every other way/],
  [
    'two ways',
    { ...machine, SHEETS_CREDENTIALS_FILE: 'file.json' },
    { '/app/file.json': key },
    'SHEETS_SIGN_IN',
    /is set together with another way to sign in/,
  ],
  [
    'a person for whom there is no key',
    { ...machine, SHEETS_SUBJECT: 'grace@example.com' },
    {},
    'SHEETS_SUBJECT',
    /only a service account with a key can act as a person/,
  ],
  [
    'a broken file of gcloud',
    machine,
    { [gcloud]: {} },
    'SHEETS_SIGN_IN',
    /gcloud.* cannot be used/,
  ],
])('settings with %s are refused', (_, variables, files, setting, problem) => {
  const { account, problems } = read(variables, files)
  expect(account).toBeUndefined()
  expect(problems.map((it) => it.setting)).toEqual([setting])
  expect(problems[0]?.problem).toMatch(problem)
})
