import type { Millis } from '../../signup/signup.ts'
import type { BesideList, ConfirmationFigures, PendingRecord } from '../contracts/confirmation.ts'
import { personOf } from '../hashes.ts'
import {
  ask,
  flagOf,
  numberOf,
  type Operation,
  type Row,
  rowOf,
  statementsOf,
  type Step,
} from '../sql.ts'
import { allHours, besideState, messageStage } from './layout.ts'
import { erasedPending, givenNumbers, stepToClose } from './pending.ts'
import { idOf } from './rows.ts'
import type { Site } from './site.ts'

const { pending, declined, left, over } = besideState
const { sent, dropped } = messageStage

const sweptAtOnce = 500
/** For how long a mail is known whose link can do nothing any more. */
const mailKnownMs = 60 * 24 * 60 * 60 * 1000
/** How many are counted, and how many are told of a person. */
const [countedMax, toldMax] = [100_000, 1_000]

const sql = statementsOf('beside list', ({ given }) => {
  const isBuried = `EXISTS (
    SELECT 1 FROM tombstone WHERE site = $1 AND tombstone.hash = $5 AND upto >= $4)`
  return {
    expired: `SELECT number, state FROM pending WHERE site = $1 AND kept_until <= $2
              ORDER BY kept_until LIMIT ${sweptAtOnce}`,
    expire: `UPDATE pending SET state = ${over}, ${erasedPending}
             WHERE number IN (SELECT position FROM ${given('asked', '$1', { position: 'number' })})`,
    // A welcome stays, so that nobody is greeted twice.
    oldMails: `DELETE FROM message WHERE number IN (
                 SELECT number FROM message WHERE site = $1 AND ended_at < $2 AND kind <> 'welcome'
                 ORDER BY ended_at LIMIT ${sweptAtOnce})`,
    figures: `SELECT coalesce(max(asked - closed), 0) AS pending,
                (SELECT count(*) FROM (SELECT 1 FROM pending WHERE site = $1 AND signals <> ''
                  LIMIT ${countedMax}) AS held) AS suspect,
                (SELECT count(*) FROM (SELECT 1 FROM block WHERE site = $1
                  LIMIT ${countedMax}) AS blocks) AS blocked
              FROM hour_pending WHERE site = $1 AND hour = ${allHours}`,
    pendingOf: `SELECT id, received_at AS "receivedAt", sheet_tab AS "sheetTab", source, name, tags, metadata,
                  fields, signals <> '' AS "isSuspect", state, kept_until AS until
                FROM pending WHERE pending.site = $1 AND pending.person = $2 AND email <> '' ORDER BY number LIMIT ${toldMax}`,
    messagesOf: `SELECT kind, made_at AS "madeAt", ended_at AS "endedAt", stage, tries FROM message
                 WHERE site = $1 AND person = $2 ORDER BY number LIMIT ${toldMax}`,
    forgetPending: `UPDATE pending SET state = ${over}, expires_at = 0, person = '', ${erasedPending}
                    WHERE pending.site = $1 AND pending.person = $2 AND ($3 OR NOT ${isBuried})`,
    forgetMessages: `UPDATE message SET email = '', person = '', share = '',
                       stage = CASE WHEN stage < ${sent} THEN ${dropped} ELSE stage END
                     WHERE site = $1 AND person = $2 AND ($3 OR NOT ${isBuried})`,
    expireEmails: `UPDATE message SET email = '' WHERE number IN (
                     SELECT number FROM message WHERE site = $1 AND ended_at < $2 AND email <> ''
                     ORDER BY ended_at LIMIT ${sweptAtOnce})`,
    block: 'SELECT why, at, until FROM block WHERE site = $1 AND person = $2',
  }
})

/** As `Confirmation.sweep`. */
export function* sweeping({ id, noteErased }: Site, now: Millis): Operation<boolean> {
  const [{ rows }] = yield* ask([sql.expired, id, now])
  const closed = rows.filter((row) => Number(row['state']) === pending).length
  const [, mails] = yield* ask(
    [sql.expire, givenNumbers(rows)],
    [sql.oldMails, id, now - mailKnownMs],
    ...noteErased(),
    ...(closed > 0 ? [stepToClose(id, closed)] : []),
  )
  return rows.length === sweptAtOnce || mails.changes === sweptAtOnce
}

/** As `Confirmation.figures`. */
export async function figuresBeside({
  db,
  id,
}: Pick<Site, 'db' | 'id'>): Promise<ConfirmationFigures> {
  const [{ rows }] = await db.query([sql.figures, id])
  const { pending: all, suspect, blocked } = rowOf({ rows })
  return { pending: Number(all), suspect: Number(suspect), blocked: Number(blocked) }
}

/** As `Confirmation.ofPerson`. */
export function* besideListOf(site: number, person: string): Operation<BesideList> {
  const [beside, messages, block] = yield* ask(
    [sql.pendingOf, site, person],
    [sql.messagesOf, site, person],
    [sql.block, site, person],
  )
  const [blocked] = block.rows
  return {
    pending: beside.rows.map(toPendingRecord),
    messages: messages.rows.map((row) => ({
      kind: row['kind'] === 'welcome' ? 'welcome' : 'confirm',
      madeAt: Number(row['madeAt']),
      sentAt: Number(row['stage']) === sent ? numberOf(row['endedAt']) : undefined,
      tries: Number(row['tries']),
    })),
    block: blocked && {
      why: blocked['why'] === 'left' ? 'left' : 'declined',
      at: Number(blocked['at']),
      until: numberOf(blocked['until']),
    },
  }
}

function toPendingRecord(row: Row): PendingRecord {
  const state = Number(row['state'])
  const tags = String(row['tags'])
  return {
    id: idOf(row['id']),
    receivedAt: Number(row['receivedAt']),
    sheetTab: String(row['sheetTab']),
    source: String(row['source']),
    name: String(row['name']),
    tags: tags === '' ? [] : (JSON.parse(tags) as string[]),
    metadata: String(row['metadata']),
    fields: String(row['fields']),
    isSuspect: flagOf(row['isSuspect']),
    state: state === declined ? 'declined' : state === left ? 'left' : 'pending',
    until: numberOf(row['until']),
  }
}

/**
 * Forgets a person beside the list. To run before the tombstone of `upto` is set: what was asked for after a
 * tombstone that is known stays, unless `isAll`.
 */
export function stepsToForget(
  site: number,
  hash: string,
  upto: number,
  isAll: boolean,
): readonly Step[] {
  const values = [site, personOf(hash), isAll, upto, hash] as const
  return [
    [sql.forgetPending, ...values],
    [sql.forgetMessages, ...values],
  ]
}

/** Erases addresses of mails that ended before this time. */
export function stepToExpireEmails(site: number, before: Millis): Step {
  return [sql.expireEmails, site, before]
}
