import { statementsOf } from '../sql.ts'
import { besideState, messageStage } from '../tables/layout.ts'
import { erasedPending } from '../tables/pending.ts'
import { connect } from './connect.ts'
import type { SqliteSite } from './site.ts'

const sql = statementsOf('sqlite after backup', {
  erase: `UPDATE pending SET ${erasedPending}
          WHERE site = $1 AND state >= ${besideState.confirmed} AND email <> ''`,
})

/**
 * Takes over what the replaced journal knows of the time since the backup: which mails have gone, what people
 * have decided by their links, who is blocked, and how many mails each mailbox got.
 */
export async function takeDecisions(
  site: SqliteSite,
  old: Pick<SqliteSite, 'db' | 'id'>,
): Promise<void> {
  const { db, id } = site
  using connection = connect(db.file)
  connection.prepare('ATTACH ? AS replaced').run(old.db.file)
  // A sending gets a negative number: a new message gets that of one after the backup.
  connection.exec(`BEGIN IMMEDIATE;
    UPDATE message SET stage = known.stage, ended_at = known.ended_at,
      email = CASE WHEN message.kind = 'welcome' THEN message.email ELSE '' END
    FROM replaced.message AS known
    WHERE message.site = ${id} AND message.stage < ${messageStage.sent}
      AND known.id = message.id AND known.stage >= ${messageStage.sent};
    UPDATE pending SET state = known.state, expires_at = known.expires_at, kept_until = known.kept_until
    FROM replaced.pending AS known
    WHERE pending.site = ${id} AND pending.email <> ''
      AND known.id = pending.id AND known.state <> ${besideState.pending};
    INSERT OR REPLACE INTO block
      SELECT ${id}, person, why, at, until FROM replaced.block WHERE site = ${old.id};
    INSERT OR IGNORE INTO sending
      SELECT -message, ${id}, recipient, at FROM replaced.sending WHERE site = ${old.id};
    COMMIT`)
  await db.change([], [sql.erase, id], ...site.noteErased())
}
