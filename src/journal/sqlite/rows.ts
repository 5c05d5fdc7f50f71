import type { SQLOutputValue } from 'node:sqlite'

import { fieldsOf } from '../../signup/fields-text.ts'
import type { Signup } from '../../signup/signup.ts'
import type { WaitingSignup } from '../contracts/delivery-log.ts'
import { idOfBytes } from './signup-id.ts'

type SqlRow = Record<string, SQLOutputValue>

export function toSignup(row: SqlRow, sheetTab: string): Signup {
  const tags = String(row['tags'])
  return {
    id: idOfBytes(row['id'] as Uint8Array),
    receivedAt: Number(row['receivedAt']),
    email: String(row['email']),
    sheetTab,
    source: String(row['source']),
    name: String(row['name']),
    tags: tags === '' ? [] : (JSON.parse(tags) as string[]),
    metadata: String(row['metadata']),
    fields: fieldsOf(String(row['fields'])),
  }
}

export function toWaiting(row: SqlRow, sheetTab: string): WaitingSignup {
  return {
    position: Number(row['position']),
    textBytes: Number(row['textBytes']),
    isIgnored: row['isIgnored'] !== 0,
    signup: toSignup(row, sheetTab),
  }
}
