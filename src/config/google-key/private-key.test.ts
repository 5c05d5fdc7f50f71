import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { parsePrivateKey } from './private-key.ts'

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
const lines = (text: string, width: number) => text.replace(new RegExp(`.{${width}}`, 'g'), '$&\n')

const bareForms: readonly (readonly [string, string])[] = [
  ['as it is', pem],
  ['without the last line break', pem.trimEnd()],
  ['with CRLF', breaks(pem, '\r\n')],
  ['with CR alone', breaks(pem, '\r')],
  ['with white space around it', `\n\t  ${pem}  \n`],
  ['with a byte order mark', `\ufeff${pem}`],
  ['with each line indented', breaks(pem, '\n    ')],
  ['in double quotes', `"${pem}"`],
  ['in single quotes', `'${pem}'`],
  ['in quotes in quotes', `"'${pem}'"`],
  ['in escaped quotes', `\\"${breaks(pem, '\\n')}\\"`],
  ['with one quote only', `"${pem}`],
  ['with \\n as two characters', breaks(pem, '\\n')],
  ['with \\n as two characters, in double quotes', `"${breaks(pem, '\\n')}"`],
  ['with \\n as two characters, in single quotes', `'${breaks(pem, '\\n')}'`],
  ['with doubled backslashes', breaks(pem, '\\\\n')],
  ['with four backslashes', breaks(pem, '\\\\\\\\n')],
  ['with \\r\\n as four characters', breaks(pem, '\\r\\n')],
  ['with doubled backslashes in \\r\\n', breaks(pem, '\\\\r\\\\n')],
  ['with a backslash before each real line break', breaks(pem, '\\\n')],
  ['with \\n and a real line break', breaks(pem, '\\n\n')],
  ['with \\u003d for each =', breaks(pem.replaceAll('=', '\\u003d'), '\\n')],
  ['with \\/ for each /', breaks(pem.replaceAll('/', '\\/'), '\\n')],
  ['with bare n where a shell took the backslashes', breaks(pem, 'n')],
  ['on one line between BEGIN and END', breaks(pem, '')],
  ['with spaces instead of line breaks', breaks(pem, ' ')],
  ['without any white space', pem.replace(/\s/g, '')],
  ['with long dashes of a word processor', pem.replaceAll('-----', '—–-')],
  ['with its variable name in front', `SHEETS_PRIVATE_KEY="${breaks(pem, '\\n')}"`],
  ['as the line of the JSON file', `  "private_key": ${JSON.stringify(pem)},`],
  ['as PKCS#1', pkcs1],
  ['as PKCS#1 with \\n as two characters, in quotes', `"${breaks(pkcs1, '\\n')}"`],
  ['as PKCS#1 under the wrong label', pkcs1.replaceAll('RSA PRIVATE', 'PRIVATE')],
  ['after a public key', `${publicPem}${pem}`],
  ['without the END line', pem.replace(/-----END.*/, '')],
  ['without the BEGIN line', pem.replace(/.*\n/, '')],
  ['without BEGIN and END', body],
  ['as base64 of the PEM', base64(pem)],
  ['as base64 in lines', lines(base64(pem), 76)],
  ['as base64 in quotes', `"${base64(pem)}"`],
  ['as base64 of the PEM with \\n as two characters', base64(breaks(pem, '\\n'))],
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
  ['on one line', JSON.stringify(keyFileContent)],
  ['with CRLF and a byte order mark', `\ufeff${breaks(json, '\r\n')}`],
  ['in single quotes', `'${json}'`],
  ['as a JSON string', JSON.stringify(json)],
  ['as a JSON string in single quotes', `'${JSON.stringify(json)}'`],
  ['with its escapes doubled', json.replaceAll('\\n', '\\\\n')],
  ['with real line breaks in the key', json.replaceAll('\\n', '\n')],
  ['with all line breaks as two characters', breaks(json, '\\n')],
  ['as base64', base64(json)],
  ['as base64 in lines', lines(base64(json), 76)],
  ['as base64url', Buffer.from(json).toString('base64url')],
  ['as base64 in quotes', `'${base64(json)}'`],
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

test('a key of 4,096 bits is read', () => {
  const key = generateKeyPairSync('rsa', { modulusLength: 4096 }).privateKey
  const long = key.export({ type: 'pkcs8', format: 'pem' })
  expect(parsePrivateKey(breaks(long, '\\n'))).toEqual({ pem: long })
})

/** Made for this test; the key to it is gone. */
const certificate = `-----BEGIN CERTIFICATE-----
MIIBdDCCARugAwIBAgIUJz7dY6hKlwVn3OpvTBi/1qyW5CEwCgYIKoZIzj0EAwIw
DzENMAsGA1UEAwwEdGVzdDAgFw0yNjExMjEwMzA4MjBaGA8yMTI2MTAyODAzMDgy
MFowDzENMAsGA1UEAwwEdGVzdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABJIn
k4iHtnz3NgLupq65gEpLBG7nR4N5VaWzT71iSqtzd8XvTNRTIQJvWSO8LSkohnFA
CbMhegC9Un9KWUiuH4ijUzBRMB0GA1UdDgQWBBQS968CmsLeuvGiGjyFP3LcrIeR
AjAfBgNVHSMEGDAWgBQS968CmsLeuvGiGjyFP3LcrIeRAjAPBgNVHRMBAf8EBTAD
AQH/MAoGCCqGSM49BAMCA0cAMEQCIAzU7euiVno+q9nO2YvmMk9u/c9io7Z0KlY/
WWCb9S08AiBu31a2TYyCiee1lIKUwn9B2VxJcvkUdz4CBvpUajdT1Q==
-----END CERTIFICATE-----
`

const encrypted = { cipher: 'aes-256-cbc', passphrase: 'secret' }
const der = createPrivateKey(pem).export({ type: 'pkcs8', format: 'der' })

/** The key with one bit of its modulus changed: it can be read and signs wrongly. */
const damagedDer = Buffer.from(der).fill((der[100] ?? 0) ^ 1, 100, 101)

const smallRsa = generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey
const pss = generateKeyPairSync('rsa-pss', { modulusLength: 2048 }).privateKey
const ed25519 = generateKeyPairSync('ed25519').privateKey
const p12 = Buffer.concat([Buffer.from([0x30, 0x82, 0x04, 0x00, 2, 1, 3]), Buffer.alloc(1021)])

const refused: readonly (readonly [string, string, RegExp])[] = [
  ['an EC key', ec.export({ type: 'pkcs8', format: 'pem' }), /elliptic-curve \(EC\)/],
  ['an EC key (SEC1)', ec.export({ type: 'sec1', format: 'pem' }), /\(EC\)/],
  ['an Ed25519 key', ed25519.export({ type: 'pkcs8', format: 'pem' }), /ed25519/],
  ['an RSA-PSS key', pss.export({ type: 'pkcs8', format: 'pem' }), /rsa-pss/],
  ['an RSA key of 1,024 bits', smallRsa.export({ type: 'pkcs8', format: 'pem' }), /1024 bits/],
  ['a public key', publicPem, /public key/],
  [
    'a public key (PKCS#1)',
    createPublicKey(rsa).export({ type: 'pkcs1', format: 'pem' }),
    /public key/,
  ],
  ['a public key without BEGIN and END', publicPem.replace(/-----.*-----|\n/g, ''), /public key/],
  ['a public key under the wrong label', publicPem.replaceAll('PUBLIC', 'PRIVATE'), /public key/],
  ['a certificate', certificate, /certificate/],
  [
    'a certificate under the wrong label',
    certificate.replaceAll('CERTIFICATE', 'PRIVATE KEY'),
    /certificate/,
  ],
  [
    'an SSH key',
    '-----BEGIN OPENSSH PRIVATE KEY-----\nb3Bl\n-----END OPENSSH PRIVATE KEY-----',
    /SSH/,
  ],
  [
    'a PGP key',
    '-----BEGIN PGP PRIVATE KEY BLOCK-----\n\nlQ==\n-----END PGP PRIVATE KEY BLOCK-----',
    /PGP/,
  ],
  ['a P12 file in base64', p12.toString('base64'), /P12/],
  [
    'a key with a passphrase',
    rsa.export({ type: 'pkcs8', format: 'pem', ...encrypted }),
    /passphrase/,
  ],
  [
    'a PKCS#1 key with a passphrase',
    rsa.export({ type: 'pkcs1', format: 'pem', ...encrypted }),
    /passphrase/,
  ],
  [
    'a key with a passphrase without BEGIN and END',
    rsa.export({ type: 'pkcs8', format: 'der', ...encrypted }).toString('base64'),
    /passphrase/,
  ],
  ['the first half', pem.slice(0, pem.length / 2), /incomplete: about \d\d % /],
  ['a key without its last 10 characters', breaks(pem, '\\n').slice(0, -45), /incomplete/],
  [
    'a key that lost a line in the middle',
    pem.split('\n').toSpliced(7, 1).join('\n'),
    /incomplete/,
  ],
  [
    'a key that lost its first line of base64',
    pem.split('\n').toSpliced(1, 1).join('\n'),
    /damaged/,
  ],
  ['base64 of the first half', base64(pem.slice(0, pem.length / 2)), /incomplete/],
  ['the first half of base64 of the PEM', base64(pem).slice(0, 1000), /incomplete/],
  ['the BEGIN line alone', '-----BEGIN PRIVATE KEY-----', /first line/],
  [
    'BEGIN and END with nothing between',
    '-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----',
    /first line/,
  ],
  ['a key with a changed bit', damagedDer.toString('base64'), /damaged/],
  [
    'a shortened example',
    '-----BEGIN PRIVATE KEY-----\nMIIE...\n-----END PRIVATE KEY-----\n',
    /placeholder/,
  ],
  ['the private_key_id', keyFileContent.private_key_id, /private_key_id/],
  ['the client_id', keyFileContent.client_id, /client_id/],
  ['the address', email, /SHEETS_CREDENTIALS_EMAIL/],
  ['the name of the key file', './service-account.json', /SHEETS_CREDENTIALS_FILE/],
  ['a placeholder', '<PRIVATE_KEY>', /placeholder/],
  ['a variable that was not filled in', '${PRIVATE_KEY}', /placeholder/],
  ['an API key', 'AIzaSyA-0123456789abcdefghijklmnopqrstu', /another kind of Google secret/],
  ['an empty text', '', /empty/],
  ['quotes around nothing', '""', /empty/],
  ['white space', ' \n ', /empty/],
  ['garbage', 'correct horse battery staple', /not a private key/],
  ['base64 of garbage', base64('correct horse battery staple '.repeat(5)), /not a key/],
  ['base64 of random bytes', Buffer.alloc(300, 0xa7).toString('base64'), /damaged/],
  ['a damaged key file', json.slice(0, json.length / 2), /not valid JSON/],
  ['base64 of a damaged key file', base64(json).slice(0, 1200), /not valid JSON/],
  [
    'a key file with an EC key',
    JSON.stringify({ ...keyFileContent, private_key: ec.export({ type: 'pkcs8', format: 'pem' }) }),
    /\(EC\)/,
  ],
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
  ['an OAuth client file', '{"installed":{"client_id":"x","client_secret":"y"}}', /OAuth client/],
  [
    'an OAuth client file for the web',
    '{"web":{"client_id":"x","client_secret":"y"}}',
    /OAuth client/,
  ],
  ['the login of a person', '{"type":"authorized_user","refresh_token":"x"}', /login of a person/],
  ['a workload identity file', '{"type":"external_account","audience":"x"}', /external_account/],
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
    const result = parsePrivateKey(text)
    expect(result).toEqual({
      problem: expect.stringMatching(reason),
      hint: expect.stringMatching(/./),
    })
  })
})
