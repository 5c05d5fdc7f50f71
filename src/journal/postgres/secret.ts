import { newSecret, type Secret } from '../hashes.ts'
import type { PostgresDatabase } from './database.ts'
import { statementsOf } from './statement.ts'

const sql = statementsOf('secret', {
  make: `INSERT INTO rollcall.secret (only_row, value) VALUES (true, $1) ON CONFLICT DO NOTHING`,
  read: 'SELECT value FROM rollcall.secret',
  hasHashes: `SELECT EXISTS (SELECT 1 FROM rollcall.tombstone)
                  OR EXISTS (SELECT 1 FROM rollcall.kept_address)
                  OR EXISTS (SELECT 1 FROM rollcall.idempotency_key) AS found`,
})

/**
 * The secret with which the journal hashes addresses and idempotency keys: 64 hexadecimal digits. All
 * instances share it. The first one makes it.
 *
 * @param onNew called when a new secret replaces the one with which the journal has made hashes
 * @throws Error in that case without `onNew`
 */
export async function takeSecret(db: PostgresDatabase, onNew?: () => void): Promise<Secret> {
  const known = await db.get(sql.read)
  if (known) return String(known['value'])
  const isLost = (await db.get(sql.hasHashes))?.['found'] === true
  if (isLost && !onNew) {
    throw new Error(
      'The key of the hashes, the table rollcall.secret, is missing in the database. Restore the table from ' +
        'its backup, or start the service once, which makes a new key.',
    )
  }
  await db.all(sql.make, newSecret())
  if (isLost) onNew?.()
  return String((await db.get(sql.read))?.['value'])
}
