import { keyExpected, privateKey } from './google-key/private-key.ts'
import type { ParsedSetting, SettingRefusal } from './refusal.ts'
import { type Files, parseFileAt } from './read-file.ts'
import type { SettingsReader } from './reader.ts'

export interface Account {
  readonly email: string
  /** PKCS#8, PEM. */
  readonly privateKey: string
}

const fileExpected = 'the path of the JSON key file of a Google service account'
const orFile =
  'Set it; or set SHEETS_CREDENTIALS_FILE to the path of the JSON key file. docs/google-setup.md explains how to get that file.'

/**
 * Reads the service account: from the file that was named for Rollcall, else from the pair of
 * address and key, else from the file that was named for Google's own tools.
 */
export function readAccount(reader: SettingsReader, files: Files): Account | undefined {
  const hasPair = reader.isSet('SHEETS_CREDENTIALS_EMAIL', 'SHEETS_PRIVATE_KEY')
  const fromFile = (path: string) => accountInFile(files, path)

  if (reader.isSet('SHEETS_CREDENTIALS_FILE') && hasPair) {
    reader.refuse('SHEETS_CREDENTIALS_FILE', {
      problem: 'is set together with SHEETS_CREDENTIALS_EMAIL or SHEETS_PRIVATE_KEY.',
      expected: 'the service account from one place only',
      hint: 'Remove SHEETS_CREDENTIALS_FILE; or remove SHEETS_CREDENTIALS_EMAIL and SHEETS_PRIVATE_KEY.',
    })
    return undefined
  }
  if (reader.isSet('SHEETS_CREDENTIALS_FILE'))
    return reader.optional('SHEETS_CREDENTIALS_FILE', fromFile)
  if (hasPair || !reader.isSet('GOOGLE_APPLICATION_CREDENTIALS')) return readPair(reader)
  return reader.optional('GOOGLE_APPLICATION_CREDENTIALS', fromFile)
}

function readPair(reader: SettingsReader): Account | undefined {
  const key = reader.required('SHEETS_PRIVATE_KEY', missing(keyExpected))
  const inKey = key?.clientEmail
  const given = reader.value('SHEETS_CREDENTIALS_EMAIL')
  // A refused key may contain the address, so do not ask for the address yet.
  const mayBeInKey = inKey !== undefined || (!key && reader.isSet('SHEETS_PRIVATE_KEY'))
  if (!mayBeInKey && !reader.isSet('SHEETS_CREDENTIALS_EMAIL')) {
    const expected = 'the address of the service account (client_email in its JSON key file)'
    reader.refuse('SHEETS_CREDENTIALS_EMAIL', missing(expected))
  }
  if (inKey !== undefined && given !== undefined && given.toLowerCase() !== inKey.toLowerCase()) {
    reader.refuse('SHEETS_CREDENTIALS_EMAIL', {
      problem: 'is not the account that the JSON in SHEETS_PRIVATE_KEY belongs to.',
      expected: `${inKey}, or nothing: the JSON has the address in it`,
      hint: 'Remove it, or set SHEETS_PRIVATE_KEY to the key of that account.',
    })
  }
  const email = given ?? inKey
  return key && email !== undefined ? { email, privateKey: key.pem } : undefined
}

function missing(expected: string): SettingRefusal {
  return { problem: 'is missing.', expected, hint: orFile }
}

/** Reads the JSON key file of a service account. */
export function accountInFile(files: Files, path: string): ParsedSetting<Account> {
  return parseFileAt(files, path, fileExpected, (content) => {
    const key = privateKey(content)
    if (!('value' in key)) return key
    const { pem, clientEmail } = key.value
    if (clientEmail !== undefined) return { value: { email: clientEmail, privateKey: pem } }
    return {
      problem: 'is a bare key, without the address of its account.',
      expected: fileExpected,
      hint: 'Use the JSON key file; or set SHEETS_CREDENTIALS_EMAIL and SHEETS_PRIVATE_KEY instead.',
    }
  })
}
