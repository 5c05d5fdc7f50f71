import { newSecret, type Secret } from '../hashes.ts'
import type { PostgresDatabase } from './database.ts'
import { statementsOf } from './statement.ts'

const sql = statementsOf('secret', {
  make: `INSERT INTO rollcall.secret (only_row, value) VALUES (true, $1) ON CONFLICT DO NOTHING`,
  read: 'SELECT value FROM rollcall.secret',
})

/**
 * The secret with which the journal hashes addresses and idempotency keys: 64 hexadecimal digits. All
 * instances share it. The first one makes it.
 */
export async function takeSecret(db: PostgresDatabase): Promise<Secret> {
  const known = await db.get(sql.read)
  if (known) return String(known['value'])
  await db.all(sql.make, newSecret())
  return String((await db.get(sql.read))?.['value'])
}
