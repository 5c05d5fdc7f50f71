import { isRecord } from '../../signup/json.ts'
import type { SettingRefusal } from '../refusal.ts'

/** Why a text is not the private key of a service account, and what to do. Never quotes the text. */
export type KeyRefusal = Omit<SettingRefusal, 'expected'>

export const makeKey =
  'Make a JSON key in the Google Cloud console (IAM & Admin, Service Accounts, the account, Keys, Add key), and use that file as it is.'

export interface KeyFile {
  readonly clientEmail: string
  readonly privateKey: string
}

/** Reads the JSON key file of a service account, even when copying removed or doubled its escapes. */
export function readKeyFile(text: string): KeyFile | KeyRefusal {
  const content = parseJson(text)
  if (!isRecord(content)) {
    return {
      problem: 'begins like a JSON key file, but is not valid JSON: it was cut off or damaged.',
      hint: "In .env, put the whole file between single quotes: SHEETS_PRIVATE_KEY='{…}'. Elsewhere, copy it again; or give its base64, which no shell changes; or set SHEETS_CREDENTIALS_FILE to its path.",
    }
  }
  const { client_email: clientEmail, private_key: privateKey } = content
  if (typeof privateKey === 'string' && typeof clientEmail === 'string') {
    return { clientEmail, privateKey }
  }
  const problem =
    'is no key file of a service account: without private_key or without client_email.'
  return { problem, hint: makeKey }
}

/** Parses JSON that is intact, has damaged line breaks, or was escaped once more as a whole. */
function parseJson(text: string): unknown {
  const attempts = [
    () => text,
    () => repairLineBreaks(text),
    () => String(JSON.parse(`"${text.replace(/\r?\n/g, ' ')}"`)),
  ]
  for (const attempt of attempts) {
    try {
      return JSON.parse(attempt())
    } catch {
      // Try the next reading. The caller reports when all fail.
    }
  }
  return undefined
}

/**
 * Repairs line breaks: inside a string, a real one becomes an escaped one; between strings, an escaped
 * one becomes a space.
 */
function repairLineBreaks(text: string): string {
  return text.replace(/("(?:[^"\\]|\\.)*")|\\+[nrt]/gs, (_, string: string | undefined) =>
    string === undefined ? ' ' : string.replace(/\r?\n/g, '\\n'),
  )
}
