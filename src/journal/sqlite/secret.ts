import { dirname, join } from 'node:path'

import { replaceNow } from '../../platform/node/durable-file.ts'
import { readIfThere } from '../../platform/node/read-if-there.ts'
import { newSecret, type Secret } from '../hashes.ts'

/** The secret's file, beside the journal. It does not belong into backups. */
const fileName = 'journal.secret'

/** The name that SQLite gives to a database without a file. */
const inMemory = ':memory:'

/** Reads the secret of the journal in this file; undefined when there is none. @throws Error when it is damaged */
export function readSecret(journal: string): Secret | undefined {
  if (journal === inMemory) return undefined
  const path = secretPath(journal)
  const text = readIfThere(path)
  if (text === undefined || /^[0-9a-f]{64}\n$/.test(text)) return text?.trim()
  throw new Error(`its secret, ${path}, is damaged. Put the file back as it was, or delete it`)
}

/** Makes a new secret, and replaces any other one. Only one process may do that at a time. */
export function makeSecret(journal: string): Secret {
  const secret = newSecret()
  if (journal !== inMemory) replaceNow(secretPath(journal), `${secret}\n`)
  return secret
}

function secretPath(journal: string): string {
  return join(dirname(journal), fileName)
}
