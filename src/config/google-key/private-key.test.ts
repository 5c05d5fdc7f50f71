import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { tried } from '../../../harness/tried.ts'
import { parsePrivateKey, privateKey } from './private-key.ts'

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
const pem = rsa.export({ type: 'pkcs8', format: 'pem' })
const pkcs1 = rsa.export({ type: 'pkcs1', format: 'pem' })
const publicPem = createPublicKey(rsa).export({ type: 'spki', format: 'pem' })
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
const body = pem.replace(/-----.*-----|\n/g, '')

const email = 'rollcall@my-project.iam.gserviceaccount.com'
const keyFileContent = {
  type: 'service_account',
  project_id: 'my-project',
  private_key_id: '0123456789abcdef0123456789abcdef01234567',
  private_key: pem,
  client_email: email,
  client_id: '123456789012345678901',
  token_uri: 'https://oauth2.googleapis.com/token',
}
const json = JSON.stringify(keyFileContent, undefined, 2)

/** Each line break becomes the given text. */
const breaks = (text: string, lineBreak: string) => text.replaceAll('\n', lineBreak)
const base64 = (text: string) => Buffer.from(text).toString('base64')

const bareForms: readonly (readonly [string, string])[] = [
  ['as it is', pem],
  ['with a byte order mark', `\ufeff${pem}`],
  ['in quotes in quotes', `"'${pem}'"`],
  ['in escaped quotes', `\\"${breaks(pem, '\\n')}\\"`],
  ['with one quote only', `"${pem}`],
  ['with \\n as two characters', breaks(pem, '\\n')],
  ['with doubled backslashes', breaks(pem, '\\\\n')],
  ['with \\r\\n as four characters', breaks(pem, '\\r\\n')],
  ['with \\u003d for each =', breaks(pem.replaceAll('=', '\\u003d'), '\\n')],
  ['with \\/ for each /', breaks(pem.replaceAll('/', '\\/'), '\\n')],
  ['with bare n where a shell took the backslashes', breaks(pem, 'n')],
  ['on one line between BEGIN and END', breaks(pem, '')],
  ['without any white space', pem.replace(/\s/g, '')],
  ['with long dashes of a word processor', pem.replaceAll('-----', '—–-')],
  ['as the line of the JSON file', `  "private_key": ${JSON.stringify(pem)},`],
  ['as PKCS#1', pkcs1],
  ['as PKCS#1 under the wrong label', pkcs1.replaceAll('RSA PRIVATE', 'PRIVATE')],
  ['after a public key', `${publicPem}${pem}`],
  ['without the END line', pem.replace(/-----END.*/, '')],
  ['without the BEGIN line', pem.replace(/.*\n/, '')],
  ['without BEGIN and END', body],
  ['as base64 of the PEM', base64(pem)],
  ['as base64url of the PEM', Buffer.from(pem).toString('base64url')],
  ['as base64 of base64', base64(base64(pem))],
  ['as base64 of UTF-16', Buffer.from(pem, 'utf16le').toString('base64')],
  [
    'as base64 of UTF-16 with a byte order mark',
    Buffer.from(`\ufeff${pem}`, 'utf16le').toString('base64'),
  ],
]

const wholeFileForms: readonly (readonly [string, string])[] = [
  ['as it is', json],
  ['as a JSON string', JSON.stringify(json)],
  ['with its escapes doubled', json.replaceAll('\\n', '\\\\n')],
  ['with all line breaks as two characters', breaks(json, '\\n')],
  ['as base64', base64(json)],
  ['with base64 of the key in it', JSON.stringify({ ...keyFileContent, private_key: base64(pem) })],
  [
    'with only the two fields that matter',
    JSON.stringify({ client_email: email, private_key: pem }),
  ],
]

describe('a key is read', () => {
  test.each(bareForms)('%s', (_, text) => {
    expect(parsePrivateKey(text)).toEqual({ pem })
  })
})

describe('a whole key file is read, with the address in it', () => {
  test.each(wholeFileForms)('%s', (_, text) => {
    expect(parsePrivateKey(text)).toEqual({ pem, clientEmail: email })
  })
})

test('a key of 3,072 bits is read', () => {
  const key = generateKeyPairSync('rsa', { modulusLength: 3072 }).privateKey
  const long = key.export({ type: 'pkcs8', format: 'pem' })
  expect(parsePrivateKey(breaks(long, '\\n'))).toEqual({ pem: long })
})

const encrypted = { cipher: 'aes-256-cbc', passphrase: 'secret' }
const der = createPrivateKey(pem).export({ type: 'pkcs8', format: 'der' })

/** The key with one bit of its modulus changed: it can be read and signs wrongly. */
const damagedDer = Buffer.from(der).fill((der[100] ?? 0) ^ 1, 100, 101)

const smallRsa = generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey

const refused: readonly (readonly [string, string, RegExp])[] = [
  ['an EC key', ec.export({ type: 'pkcs8', format: 'pem' }), /of the kind ec;/],
  [
    'an RSA key of 1,024 bits',
    smallRsa.export({ type: 'pkcs8', format: 'pem' }),
    /RSA with 1024 bits;/,
  ],
  ['a public key', publicPem, /not a private key/],
  [
    'a public key without BEGIN and END',
    publicPem.replace(/-----.*-----|\n/g, ''),
    /no private key/,
  ],
  [
    'a key with a passphrase',
    rsa.export({ type: 'pkcs8', format: 'pem', ...encrypted }),
    /passphrase/,
  ],
  ['the first half', pem.slice(0, pem.length / 2), /incomplete/],
  [
    'a key that lost a line in the middle',
    pem.split('\n').toSpliced(7, 1).join('\n'),
    /incomplete/,
  ],
  ['base64 of the first half', base64(pem.slice(0, pem.length / 2)), /incomplete/],
  ['the BEGIN line alone', '-----BEGIN PRIVATE KEY-----', /first line/],
  ['a key with a changed bit', damagedDer.toString('base64'), /damaged/],
  ['the private_key_id', keyFileContent.private_key_id, /not a private key/],
  ['quotes around nothing', '""', /empty/],
  ['garbage', 'correct horse battery staple', /not a private key/],
  ['base64 of garbage', base64('correct horse battery staple '.repeat(5)), /no private key/],
  ['base64 of random bytes', Buffer.alloc(300, 0xa7).toString('base64'), /damaged/],
  ['a very long text', 'A'.repeat(32_769), /longer than any key/],
  ['a damaged key file', json.slice(0, json.length / 2), /not valid JSON/],
  [
    'a key file without private_key',
    JSON.stringify({ ...keyFileContent, private_key: undefined }),
    /without private_key/,
  ],
  [
    'a key file without client_email',
    JSON.stringify({ ...keyFileContent, client_email: undefined }),
    /without client_email/,
  ],
]

test.each([
  './service-account.json',
  '/run/secrets/google',
  '~/key',
  'C:\\keys\\rollcall',
  'my.pem',
])('the hint for a path, %s, names the setting for it', (path) => {
  expect(parsePrivateKey(path)).toMatchObject({
    problem: 'is the path of a file, which belongs in SHEETS_CREDENTIALS_FILE.',
    hint: expect.stringContaining('Set SHEETS_CREDENTIALS_FILE to that path'),
  })
})

test('the hint for JSON that was cut off says how to write it into .env', () => {
  expect(parsePrivateKey('{')).toMatchObject({ hint: expect.stringContaining('single quotes') })
})

describe('a text that is not the key of a service account is refused, with the reason and a hint', () => {
  test.each(refused)('%s', (_, text, reason) => {
    expect(tried(privateKey, text)).toMatchObject({
      problem: expect.stringMatching(reason),
      hint: expect.stringMatching(/./),
    })
  })
})
