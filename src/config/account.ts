import { join, resolve } from 'node:path'
import { type Account, noAddress, readCredentials } from './google-key/sign-in.ts'
import { privateKey } from './google-key/private-key.ts'
import { text, Wrong } from './kind.ts'
import { type Files, readFileAt } from './read-file.ts'
import type { SettingsReader } from './reader.ts'
import type { SettingName } from './settings.ts'
import { webUrl } from './values.ts'

/** What a site may say itself of its account. Any of these makes the account its own. */
export const signInNames = ['SHEETS_CREDENTIALS_FILE', 'SHEETS_SIGN_IN', 'SHEETS_SUBJECT'] as const

/** Reads the account that writes to the spreadsheet, and how it signs in. */
export function readAccount(reader: SettingsReader, files: Files): Account | undefined {
  const account = readSignIn(reader, files)
  const subject = said(reader, 'SHEETS_SUBJECT') ? reader.value('SHEETS_SUBJECT') : undefined
  if (!account || subject === undefined) return account
  const { signIn } = account
  if (signIn.kind === 'key') return { email: subject, signIn: { ...signIn, subject } }
  reader.refuse('SHEETS_SUBJECT', {
    problem: 'is set, and only a service account with a key can act as a person.',
    expected: 'nothing, or a key beside it',
    hint: 'Remove SHEETS_SUBJECT; or sign in with the JSON key file of a service account.',
  })
  return undefined
}

/** Whether one of these is said where the way to sign in is: a site with one of its own takes none of the environment's. */
function said(reader: SettingsReader, ...names: readonly SettingName[]): boolean {
  const isOwn =
    reader.says('SHEETS_CREDENTIALS_FILE') || (reader.says('SHEETS_SIGN_IN') && usesMachine(reader))
  return isOwn ? names.some((name) => reader.says(name)) : reader.isSet(...names)
}

const usesMachine = (reader: SettingsReader) =>
  reader.value('SHEETS_SIGN_IN') === 'application-default'

/** The only way to sign in that is set. The file that was named for Google's own tools is what the machine has, too. */
function readSignIn(reader: SettingsReader, files: Files): Account | undefined {
  const inFile = text('the path of a credentials file of Google', (path) =>
    readFileAt(files, path, readCredentials),
  )
  const fromFile = (name: SettingName) => () => reader.read(name, inFile)
  const isForTools = reader.isSet('GOOGLE_APPLICATION_CREDENTIALS')
  const forTools = fromFile('GOOGLE_APPLICATION_CREDENTIALS')
  const hasMachine = said(reader, 'SHEETS_SIGN_IN') && usesMachine(reader)
  const hasFile = said(reader, 'SHEETS_CREDENTIALS_FILE')
  const hasPair = said(reader, 'SHEETS_CREDENTIALS_EMAIL', 'SHEETS_PRIVATE_KEY')
  const [way, ...others] = [
    ...(hasMachine ? [isForTools ? forTools : () => readMachine(reader, files)] : []),
    ...(hasFile ? [fromFile('SHEETS_CREDENTIALS_FILE')] : []),
    ...(hasPair ? [() => readPair(reader)] : []),
  ]
  if (others.length === 0 && (way || isForTools)) return (way ?? forTools)()
  reader.refuse(hasMachine ? 'SHEETS_SIGN_IN' : 'SHEETS_CREDENTIALS_FILE', {
    problem: `is ${way ? 'set together with another' : 'missing, and so is every other'} way to sign in.`,
    ...{ expected: 'one way to sign in at Google', hint: ways },
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
  if (!key || email === undefined) return undefined
  return { email, signIn: { kind: 'key', email, privateKey: key.pem } }
}

const orFile =
  'Set it; or set SHEETS_CREDENTIALS_FILE to the path of the JSON key file. docs/google-setup.md explains how to get that file.'

const ways =
  'Set one of these: SHEETS_CREDENTIALS_FILE; or SHEETS_CREDENTIALS_EMAIL and SHEETS_PRIVATE_KEY; or SHEETS_SIGN_IN=application-default, where the machine has an account (docs/google-setup.md).'

/** What the machine has, where Google's own tools look for it: the file of gcloud, else the metadata server. */
function readMachine(reader: SettingsReader, files: Files): Account | undefined {
  const data = reader.text('APPDATA') ?? join(reader.text('HOME') ?? '/', '.config')
  const folder = reader.text('CLOUDSDK_CONFIG') ?? join(data, 'gcloud')
  const path = resolve(folder, 'application_default_credentials.json')
  let content: string
  try {
    content = files.readText(path)
  } catch {
    // A service may not look into the home of its user, and machines of Google have no such file.
    const url = webUrl(`http://${reader.text('GCE_METADATA_HOST') ?? ''}`)?.origin ?? metadataUrl
    return { email: noAddress, signIn: { kind: 'machine', url } }
  }
  const found = readCredentials(content)
  if (!(found instanceof Wrong)) return found
  const problem = `finds ${path}, which cannot be used: it ${found.problem}`
  const expected = 'an account that the machine has'
  reader.refuse('SHEETS_SIGN_IN', { problem, expected, hint: found.hint ?? ways })
  return undefined
}

const metadataUrl = 'http://169.254.169.254'
