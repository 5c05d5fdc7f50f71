import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { openSqliteJournal } from './sqlite-journal.ts'

/** Settings of a service whose signups are confirmed by mail. Its mail server does not answer. */
export const confirming = {
  CONFIRMATION: 'mail',
  MAIL_URL: 'smtp://127.0.0.1:9',
  MAIL_FROM: 'letters@example.org',
  PUBLIC_URL: 'http://127.0.0.1:3000',
}

/** Decides, beside the service, on all that waits for a confirmation, as its person does by the link of a mail. */
export async function decidePending(
  dataDir: string,
  decision: 'confirm' | 'decline' = 'confirm',
): Promise<void> {
  const file = join(dataDir, 'journal.db')
  const policy = { confirmation: { waitMs: 7 * 24 * 60 * 60_000 } }
  await using journal = openSqliteJournal(file, policy, { access: 'beside' })
  // Makes the mails, and takes none.
  await journal.outbox.claim({ kinds: ['confirm'], by: 'the test', now: Date.now(), max: 0 })
  using db = openDatabase(file, true)
  const mails = db.prepare(`SELECT id FROM message WHERE kind = 'confirm' ORDER BY number`).all()
  for (const { id } of mails) await journal.confirmation[decision](String(id), Date.now())
}

/** Lets the time of all pending signups be over. */
export function expirePending(dataDir: string): void {
  using db = openDatabase(join(dataDir, 'journal.db'))
  db.exec('UPDATE pending SET expires_at = 1')
}

function openDatabase(file: string, readOnly = false) {
  const db = new DatabaseSync(file, { readOnly, timeout: 10_000 })
  return Object.assign(db, { [Symbol.dispose]: () => db.close() })
}
