import { privateKey, readPrivateKey } from './google-key/private-key.ts'
import { type Kind, text, Wrong } from './kind.ts'
import { type Files, readFileAt } from './read-file.ts'
import type { SettingsReader } from './reader.ts'

export interface Account {
  readonly email: string
  /** PKCS#8, PEM. */
  readonly privateKey: string
}

/**
 * Reads the service account: from the file that was named for Rollcall, else from the pair of
 * address and key, else from the file that was named for Google's own tools.
 */
export function readAccount(reader: SettingsReader, files: Files): Account | undefined {
  const inFile = keyFile(files)
  const isOwn = reader.says('SHEETS_CREDENTIALS_FILE')
  const hasPair = !isOwn && reader.isSet('SHEETS_CREDENTIALS_EMAIL', 'SHEETS_PRIVATE_KEY')
  if (!reader.isSet('SHEETS_CREDENTIALS_FILE')) {
    const isPair = hasPair || !reader.isSet('GOOGLE_APPLICATION_CREDENTIALS')
    return isPair ? readPair(reader) : reader.read('GOOGLE_APPLICATION_CREDENTIALS', inFile)
  }
  if (!hasPair) return reader.read('SHEETS_CREDENTIALS_FILE', inFile)
  reader.refuse('SHEETS_CREDENTIALS_FILE', {
    problem: 'is set together with SHEETS_CREDENTIALS_EMAIL or SHEETS_PRIVATE_KEY.',
    expected: 'the service account from one place only',
    hint: 'Remove SHEETS_CREDENTIALS_FILE; or remove SHEETS_CREDENTIALS_EMAIL and SHEETS_PRIVATE_KEY.',
  })
  return undefined
}

function readPair(reader: SettingsReader): Account | undefined {
  const key = reader.required('SHEETS_PRIVATE_KEY', privateKey, '', orFile)
  const inKey = key?.clientEmail
  const given = reader.value('SHEETS_CREDENTIALS_EMAIL')
  // A refused key may contain the address, so do not ask for the address yet.
  const mayBeInKey = inKey !== undefined || (!key && reader.isSet('SHEETS_PRIVATE_KEY'))
  if (!mayBeInKey && !reader.isSet('SHEETS_CREDENTIALS_EMAIL')) {
    const expected = 'the address of the service account (client_email in its JSON key file)'
    reader.refuse('SHEETS_CREDENTIALS_EMAIL', { problem: 'is missing.', expected, hint: orFile })
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

const orFile =
  'Set it; or set SHEETS_CREDENTIALS_FILE to the path of the JSON key file. docs/google-setup.md explains how to get that file.'

/** The path of the JSON key file of a service account. */
function keyFile(files: Files): Kind<Account> {
  return text('the path of the JSON key file of a Google service account', (path) =>
    readFileAt(files, path, (content) => {
      const key = readPrivateKey(content)
      if (key instanceof Wrong) return key
      const { pem, clientEmail } = key
      if (clientEmail !== undefined) return { email: clientEmail, privateKey: pem }
      const hint =
        'Use the JSON key file; or set SHEETS_CREDENTIALS_EMAIL and SHEETS_PRIVATE_KEY instead.'
      return new Wrong('is a bare key, without the address of its account.', hint)
    }),
  )
}
