import { isRecord } from '../signup/json.ts'
import { makeKey } from './not-the-key.ts'
import type { KeyRefusal } from './not-the-key.ts'

export interface KeyFile {
  readonly clientEmail: string
  readonly privateKey: string
}

const howToMake = `${makeKey} Give that file as it is.`

/**
 * Reads the JSON key file of a service account, even when copying removed or doubled its escapes.
 */
export function readKeyFile(text: string): KeyFile | KeyRefusal {
  const content = parseJson(text)
  if (!isRecord(content)) {
    return {
      problem: 'begins like a JSON key file and is not valid JSON: cut off or damaged on the way.',
      hint: "In .env put the whole file between single quotes: SHEETS_PRIVATE_KEY='{…}'. Elsewhere copy it again, give its base64, which no shell changes, or its path by SHEETS_CREDENTIALS_FILE.",
    }
  }
  const foreign = foreignKind(content)
  if (foreign) return { problem: foreign, hint: howToMake }
  const { client_email: clientEmail, private_key: privateKey } = content
  if (typeof privateKey !== 'string') return { problem: lacks('private_key'), hint: howToMake }
  if (typeof clientEmail !== 'string') return { problem: lacks('client_email'), hint: howToMake }
  return { clientEmail, privateKey }
}

function lacks(field: string): string {
  return `is JSON without ${field}: not the key file of a service account.`
}

/** The problem of another kind of Google's JSON files; undefined when the file is of no such kind. */
function foreignKind(content: Record<string, unknown>): string | undefined {
  if ('installed' in content || 'web' in content) {
    return 'is the file of an OAuth client; the key of a service account is needed.'
  }
  const { type } = content
  if (type === 'authorized_user') {
    return 'is the login of a person (gcloud auth application-default login); the key of a service account is needed.'
  }
  if (type === 'external_account' || type === 'impersonated_service_account') {
    return `has the type ${type}, which Rollcall cannot use; the key of a service account is needed.`
  }
  return undefined
}

/** Parses JSON that is intact, has damaged line breaks, or was escaped once more as a whole. */
function parseJson(text: string): unknown {
  const attempts = [
    () => text,
    () => mendLineBreaks(text),
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
function mendLineBreaks(text: string): string {
  return text.replace(/("(?:[^"\\]|\\.)*")|\\+[nrt]/gs, (_, string: string | undefined) =>
    string === undefined ? ' ' : string.replace(/\r?\n/g, '\\n'),
  )
}
