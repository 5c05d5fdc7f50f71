import { parsePrivateKey } from './google-key/private-key.ts'
import type { PrivateKey } from './google-key/private-key.ts'
import type { ParsedSetting } from './refusal.ts'
import { type Files, readFileAt } from './read-file.ts'
import type { SettingsReader } from './reader.ts'
import type { SettingName } from './settings.ts'
import { emailAddress, filePath } from './values.ts'

/** A Google service account. */
export interface Account {
  readonly email: string
  /** PKCS#8, PEM. */
  readonly privateKey: string
}

const keyExpected = 'the private key (RSA) of a Google service account'
const fileExpected = 'the path of the JSON key file of a Google service account'
const orFile =
  'Set it; or set SHEETS_CREDENTIALS_FILE to the path of the JSON key file. docs/google-setup.md explains how to get that file.'

/** Whether any setting for Rollcall alone tells of the service account. */
export function hasAccount(reader: SettingsReader): boolean {
  return accountSettings.some((name) => reader.text(name) !== undefined)
}

const accountSettings = [
  'SHEETS_CREDENTIALS_EMAIL',
  'SHEETS_PRIVATE_KEY',
  'SHEETS_CREDENTIALS_FILE',
] as const

/**
 * Reads the service account: from the file that was named for Rollcall, else from the pair of
 * address and key, else from the file that was named for Google's own tools.
 */
export function readAccount(reader: SettingsReader, files: Files): Account | undefined {
  const isSet = (name: SettingName) => reader.text(name) !== undefined
  const hasPair = isSet('SHEETS_CREDENTIALS_EMAIL') || isSet('SHEETS_PRIVATE_KEY')
  const fromFile = (path: string) => accountInFile(files, path)

  if (isSet('SHEETS_CREDENTIALS_FILE') && hasPair) {
    reader.refuse('SHEETS_CREDENTIALS_FILE', {
      problem: 'is set together with SHEETS_CREDENTIALS_EMAIL or SHEETS_PRIVATE_KEY.',
      expected: 'the service account from one place only',
      hint: 'Remove SHEETS_CREDENTIALS_FILE; or remove SHEETS_CREDENTIALS_EMAIL and SHEETS_PRIVATE_KEY.',
    })
    return undefined
  }
  if (isSet('SHEETS_CREDENTIALS_FILE')) return reader.optional('SHEETS_CREDENTIALS_FILE', fromFile)
  if (hasPair || !isSet('GOOGLE_APPLICATION_CREDENTIALS')) return readPair(reader)
  return reader.optional('GOOGLE_APPLICATION_CREDENTIALS', fromFile)
}

function readPair(reader: SettingsReader): Account | undefined {
  const key = reader.required(
    'SHEETS_PRIVATE_KEY',
    { problem: 'is missing.', expected: keyExpected, hint: orFile },
    keyText,
  )
  const emailInKey = key?.clientEmail
  if (key && emailInKey !== undefined) {
    const email = reader.optional('SHEETS_CREDENTIALS_EMAIL', (text) => sameAs(emailInKey, text))
    return { email: email ?? emailInKey, privateKey: key.pem }
  }
  // A refused key may contain the address, so do not ask for the address yet.
  const keyIsUnclear = key === undefined && reader.text('SHEETS_PRIVATE_KEY') !== undefined
  const email = keyIsUnclear
    ? reader.optional('SHEETS_CREDENTIALS_EMAIL', emailAddress)
    : reader.required('SHEETS_CREDENTIALS_EMAIL', missingEmail, emailAddress)
  return key && email !== undefined ? { email, privateKey: key.pem } : undefined
}

const missingEmail = {
  problem: 'is missing.',
  expected: 'the address of the service account (client_email in its JSON key file)',
  hint: orFile,
}

function keyText(text: string): ParsedSetting<PrivateKey> {
  const key = parsePrivateKey(text)
  if ('problem' in key) return { ...key, expected: keyExpected }
  if (key.clientEmail === undefined) return { value: key }
  const email = emailAddress(key.clientEmail)
  if ('value' in email) return { value: key }
  return { ...email, problem: `has a client_email in its JSON that ${email.problem}` }
}

function sameAs(emailInKey: string, text: string): ParsedSetting<string> {
  const email = emailAddress(text)
  if (!('value' in email) || text.toLowerCase() === emailInKey.toLowerCase()) return email
  return {
    problem: 'is not the account that the JSON in SHEETS_PRIVATE_KEY belongs to.',
    expected: `${emailInKey}, or nothing: the JSON has the address in it`,
    hint: 'Remove it, or set SHEETS_PRIVATE_KEY to the key of that account.',
  }
}

/** Reads the JSON key file of a service account. */
export function accountInFile(files: Files, text: string): ParsedSetting<Account> {
  const path = filePath(text)
  if (!('value' in path)) return path
  const content = readFileAt(files, path.value, fileExpected)
  if (!('value' in content)) return content
  const key = keyText(content.value)
  if (!('value' in key)) {
    const problem = `names a file that cannot be used: it ${key.problem}`
    return { problem, expected: fileExpected, hint: key.hint }
  }
  const { pem, clientEmail } = key.value
  if (clientEmail !== undefined) return { value: { email: clientEmail, privateKey: pem } }
  return {
    problem: 'names a file with a bare key, without the address of its account.',
    expected: fileExpected,
    hint: 'Use the JSON key file; or set SHEETS_CREDENTIALS_EMAIL and SHEETS_PRIVATE_KEY instead.',
  }
}
