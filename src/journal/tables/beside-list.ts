import type { Millis } from '../../signup/signup.ts'
import type {
  BesideList,
  BlockRecord,
  ConfirmationFigures,
  MessageRecord,
} from '../contracts/confirmation.ts'
import { personOf } from '../hashes.ts'
import {
  ask,
  flagOf,
  numberOf,
  type Operation,
  rowOf,
  rowReader,
  statementsOf,
  type Step,
} from '../sql.ts'
import { allHours, besideState, messageStage } from './layout.ts'
import { erasedPending, givenNumbers, stepToClose } from './pending.ts'
import { idOf, tagsOf } from './rows.ts'
import type { ReadSite } from './facts.ts'
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
    // Who has left for good is on the list of no mail. The welcome itself stays.
    forgetMailed: `UPDATE message SET email = '' WHERE site = $1 AND kind = 'welcome' AND person IN (
                     SELECT person FROM pending
                     JOIN ${given('asked', '$2', { position: 'number' })} ON pending.number = asked.position
                     WHERE state = ${left})`,
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
                FROM pending WHERE pending.site = $1 AND pending.person = $2 AND email <> ''
                ORDER BY number LIMIT ${toldMax}`,
    messagesOf: `SELECT kind, made_at AS "madeAt", tries,
                   CASE WHEN stage = ${sent} THEN ended_at END AS "sentAt" FROM message
                 WHERE site = $1 AND person = $2 ORDER BY number LIMIT ${toldMax}`,
    closeForgotten: `INSERT INTO hour_pending AS known (site, hour, closed)
                     SELECT $1, ${allHours}, count(*) FROM pending
                     WHERE pending.site = $1 AND pending.person = $2 AND state = ${pending} AND ($3 OR NOT ${isBuried})
                     ON CONFLICT (site, hour) DO UPDATE SET closed = known.closed + excluded.closed`,
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
  const [, , mails] = yield* ask(
    [sql.forgetMailed, id, givenNumbers(rows)],
    [sql.expire, givenNumbers(rows)],
    [sql.oldMails, id, now - mailKnownMs],
    ...noteErased(),
    ...(closed > 0 ? [stepToClose(id, closed)] : []),
  )
  return rows.length === sweptAtOnce || mails.changes === sweptAtOnce
}

const toFigures = rowReader({ pending: Number, suspect: Number, blocked: Number })

/** As `Confirmation.figures`. */
export async function figuresBeside({ db, id }: ReadSite): Promise<ConfirmationFigures> {
  const [figures] = await db.query([sql.figures, id])
  return toFigures(rowOf(figures))
}

/** Finds the row for `toBlock`. */
export function stepToFindBlock(site: number, person: string): Step {
  return [sql.block, site, person]
}

export const toBlock = rowReader({
  why: (why) => why as BlockRecord['why'],
  at: Number,
  until: numberOf,
})

/** As `Confirmation.ofPerson`. */
export function* besideListOf(site: number, person: string): Operation<BesideList> {
  const [beside, messages, block] = yield* ask(
    [sql.pendingOf, site, person],
    [sql.messagesOf, site, person],
    stepToFindBlock(site, person),
  )
  return {
    pending: beside.rows.map(toPendingRecord),
    messages: messages.rows.map(toMessageRecord),
    block: block.rows.map(toBlock)[0],
  }
}

const stateNames = { [pending]: 'pending', [declined]: 'declined', [left]: 'left' } as const

const toPendingRecord = rowReader({
  ...{ id: idOf, receivedAt: Number, sheetTab: String, source: String, name: String },
  ...{ tags: tagsOf, metadata: String, fields: String, isSuspect: flagOf, until: numberOf },
  state: (state) => stateNames[state as keyof typeof stateNames],
})

const toMessageRecord = rowReader({
  kind: (kind) => kind as MessageRecord['kind'],
  ...{ madeAt: Number, sentAt: numberOf, tries: Number },
})

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
    [sql.closeForgotten, ...values],
    [sql.forgetPending, ...values],
    [sql.forgetMessages, ...values],
  ]
}

/** Erases addresses of mails that ended before this time. */
export function stepToExpireEmails(site: number, before: Millis): Step {
  return [sql.expireEmails, site, before]
}
