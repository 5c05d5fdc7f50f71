import { dirname, join } from 'node:path'

import { replaceNow } from '../../platform/node/durable-file.ts'
import { readIfThere } from '../../platform/node/read-if-there.ts'
import { newSecret, type Secret } from '../hashes.ts'

/** Reads the secret of the journal in this file; undefined when there is none. @throws Error when it is damaged */
export function readSecret(journal: string): Secret | undefined {
  const path = secretPath(journal)
  const text = path && readIfThere(path)
  if (text === undefined || /^[0-9a-f]{64}\n$/.test(text)) return text?.trim()
  throw new Error(`its secret, ${path}, is damaged. Put the file back as it was, or delete it`)
}

/** Makes a new secret, and replaces any other one. Only one process may do that at a time. */
export function makeSecret(journal: string): Secret {
  const path = secretPath(journal)
  const secret = newSecret()
  if (path !== undefined) replaceNow(path, `${secret}\n`)
  return secret
}

/** The secret's file is beside the journal, and does not belong into backups. A journal in memory has none. */
function secretPath(journal: string): string | undefined {
  return journal === ':memory:' ? undefined : join(dirname(journal), 'journal.secret')
}
