import {
  ask,
  type Given,
  givenRows,
  type Operation,
  reading,
  type Row,
  statementsOf,
} from '../sql.ts'
import { besideState, messageStage } from './layout.ts'
import { erasedPending } from './pending.ts'
import { idOf } from './rows.ts'
import type { Site } from './site.ts'

/** How many rows are compared at once. */
const comparedAtOnce = 1_000

const sql = statementsOf('after backup', ({ given, id }) => {
  const asked = given('asked', '$1', { id: 'text' })
  return {
    messages: `SELECT number, id FROM message WHERE site + 0 = $1 AND stage < ${messageStage.sent}
               AND number > $2 ORDER BY number LIMIT ${comparedAtOnce}`,
    ended: `SELECT message.id, stage, ended_at AS "endedAt" FROM ${asked}
            JOIN message ON message.id = asked.id WHERE stage >= ${messageStage.sent}`,
    end: `UPDATE message SET stage = known.stage, ended_at = known."endedAt",
            email = CASE WHEN kind = 'welcome' THEN email ELSE '' END
          FROM ${given('known', '$1', { id: 'text', stage: 'integer', endedAt: 'number' })}
          WHERE message.id = known.id`,
    pending: `SELECT number, id FROM pending WHERE site + 0 = $1 AND email <> ''
              AND number > $2 ORDER BY number LIMIT ${comparedAtOnce}`,
    decided: `SELECT asked.id, state, expires_at AS "expiresAt", kept_until AS "keptUntil" FROM ${asked}
              JOIN pending ON pending.id = ${id('asked.id')} WHERE state <> ${besideState.pending}`,
    decide: `UPDATE pending SET state = known.state, expires_at = known."expiresAt",
               kept_until = known."keptUntil"
             FROM ${given('known', '$1', { id: 'text', state: 'integer', expiresAt: 'number', keptUntil: 'number' })}
             WHERE pending.id = ${id('known.id')}`,
    erase: `UPDATE pending SET ${erasedPending}
            WHERE site = $1 AND state >= ${besideState.confirmed} AND email <> ''`,
    blocks: 'SELECT person, why, at, until FROM block WHERE site = $1',
    block: `INSERT INTO block (site, person, why, at, until)
            SELECT $1, person, why, at, until
            FROM ${given('known', '$2', { person: 'text', why: 'text', at: 'number', until: 'number' })}
            WHERE true ON CONFLICT (site, person) DO UPDATE
            SET why = excluded.why, at = excluded.at, until = excluded.until`,
    sent: 'SELECT message, recipient, at FROM sending WHERE site + 0 = $1',
    // As a negative number: a new message gets that of one after the backup.
    count: `INSERT INTO sending (message, site, recipient, at)
            SELECT -message, $1, recipient, at
            FROM ${given('known', '$2', { message: 'number', recipient: 'text', at: 'number' })}
            WHERE true ON CONFLICT (message) DO NOTHING`,
  }
})

type Readable = Pick<Site, 'db' | 'id'>

/**
 * Takes over what the replaced journal knows of the time since the backup: which mails have gone, what people
 * have decided by their links, who is blocked, and how many mails each mailbox got.
 */
export async function takeDecisions(site: Site, old: Readable): Promise<void> {
  const { db, id } = site
  const pairs = [
    [sql.messages, sql.ended, sql.end],
    [sql.pending, sql.decided, sql.decide],
  ] as const
  for (const [open, known, take] of pairs) {
    for (let after: number | undefined = 0; after !== undefined;) {
      const [{ rows }]: readonly [{ readonly rows: readonly Row[] }] = await db.query([
        open,
        id,
        after,
      ])
      const asked = givenRows(
        rows.map((row) => ({ id: typeof row['id'] === 'string' ? row['id'] : idOf(row['id']) })),
      )
      const [found] = await old.db.query([known, asked])
      await db.change([], [take, givenRows(found.rows as readonly Given[])])
      after = rows.length < comparedAtOnce ? undefined : Number(rows.at(-1)?.['number'])
    }
  }
  const [blocks, sent] = await reading(old.db, knownOf(old.id))
  await db.change(
    [],
    [sql.erase, id],
    [sql.block, id, givenRows(blocks)],
    [sql.count, id, givenRows(sent)],
    ...site.noteErased(),
  )
}

function* knownOf(site: number): Operation<readonly [readonly Given[], readonly Given[]]> {
  const [blocks, sent] = yield* ask([sql.blocks, site], [sql.sent, site])
  return [blocks.rows as readonly Given[], sent.rows as readonly Given[]]
}
