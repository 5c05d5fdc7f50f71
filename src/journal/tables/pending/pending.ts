import { fieldsText } from '../../../signup/field.ts'
import type { Millis, Signup, SignupId } from '../../../signup/signup.ts'
import type {
  BesideCursor,
  BesideList,
  BlockRecord,
  MessageRecord,
} from '../../contracts/confirmation.ts'
import type { Addressing, AppendTerms, SignupStatus } from '../../contracts/intake-log.ts'
import { heldMs } from '../../contracts/quarantine.ts'
import { addressHash, fingerprintHash, personOf, shareHash } from '../../hashes.ts'
import {
  ask,
  flagOf,
  givenRows,
  numberOf,
  type Operation,
  type Row,
  rowReader,
  statementsOf,
  type Step,
} from '../../sql.ts'
import { besideState, messageStage } from '../layout.ts'
import { closing, erasedPending, lastEndOf, waitingMails } from './ending.ts'
import { idOf, toRecord } from '../rows.ts'
import type { Site } from '../site.ts'
import type { Tabs } from '../tabs.ts'
import { adding, allTime, hourOf } from '../tally.ts'

const { pending, over } = besideState
const { sent, dropped } = messageStage

/** How much is told of a person at once. */
const toldMax = 100

/** What `toRecord` reads. */
export const pendingColumns = `number AS position, pending.id, received_at AS "receivedAt", email, source, name, tags,
  metadata, fields, sheet_tab AS "sheetTab", signals`

/** When the cells of one that is pending or held are erased, in SQL: null while its mail waits. */
export const endsAt = `CASE WHEN signals <> '' THEN received_at + ${heldMs}
  WHEN NOT mail_wanted AND NOT EXISTS (${waitingMails}) THEN expires_at END`

/** Whether the person $2 is forgotten by a new tombstone of $5 up to $4; or in any case, as $3 says. */
const isForgotten = `person = $2 AND ($3 OR NOT EXISTS (
  SELECT 1 FROM tombstone WHERE site = $1 AND tombstone.hash = $5 AND upto >= $4))`

const statusColumns = `id, received_at AS "receivedAt", sheet_tab AS "sheetTab",
  expires_at AS "expiresAt", is_late AS "isLate"`

const sql = statementsOf('pending', ({ given, id }) => {
  return {
    ask: `
      INSERT INTO pending (number, id, site, person, state, expires_at, signals, mail_wanted, share,
        language, sheet_tab, received_at, email, source, name, tags, metadata, fields)
      SELECT (SELECT coalesce(max(number), 0) FROM pending) + 1, ${id('$6')}, $1, $2, ${pending},
        CAST($3 AS bigint), $7, true, $8, $9, $10, CAST($11 AS bigint), $12, $13, $14, $15, $16, $17
      WHERE NOT EXISTS (SELECT 1 FROM idempotency_key WHERE site = $1 AND idempotency_key.key = $4)
        AND NOT EXISTS (SELECT 1 FROM used_token WHERE digest = $5)`,
    stored: `SELECT 1 FROM pending WHERE id = ${id('$1')}`,
    // Only if the first one, $6, was stored. The $7 signups of a request have consecutive numbers.
    keepKey: `
      INSERT INTO idempotency_key
        (site, key, fingerprint, first_position, last_position, refused, stored_at)
      SELECT $1, $2, $3, -number, 1 - number - $7, $4, $5 FROM pending WHERE id = ${id('$6')}
      ON CONFLICT DO NOTHING`,
    keepToken: `INSERT INTO used_token (digest, stored_at)
                SELECT $1, $2 FROM pending WHERE id = ${id('$3')} ON CONFLICT DO NOTHING`,
    // Only if the signup $3 was stored.
    count: adding(`SELECT $1, 'pending', ${allTime}, '', CAST($2 AS bigint)
                   WHERE EXISTS (SELECT 1 FROM pending WHERE id = ${id('$3')})`),
    countSuspects: adding(`
      SELECT $1, what, slot, name, count(*)
      FROM ${given('given', '$2', { id: 'text', what: 'text', slot: 'number', name: 'text' })}
      WHERE EXISTS (SELECT 1 FROM signup WHERE signup.id = ${id('given.id')})
        OR EXISTS (SELECT 1 FROM pending WHERE pending.id = ${id('given.id')})
      GROUP BY what, slot, name`),
    find: `SELECT ${statusColumns} FROM pending WHERE id = ${id('$1')} AND site = $2`,
    between: `SELECT ${statusColumns} FROM pending WHERE number BETWEEN $1 AND $2 ORDER BY number`,
    ofPerson: `SELECT ${pendingColumns}, ${endsAt} AS until
               FROM pending WHERE site = $1 AND person = $2 AND state = ${pending} AND email <> '' AND number > $3
               ORDER BY number LIMIT ${toldMax}`,
    mailsOf: `SELECT number, kind, made_at AS "madeAt", tries,
                CASE WHEN stage = ${sent} THEN ended_at END AS "sentAt" FROM message
              WHERE site = $1 AND person = $2 AND number > $3 ORDER BY number LIMIT ${toldMax}`,
    blockOf: 'SELECT why, at, until FROM block WHERE site = $1 AND person = $2',
    closeForgotten: closing(`site = $1 AND ${isForgotten}`),
    forget: `UPDATE pending
             SET state = ${over}, expires_at = 0, person = '', sheet_tab = '', ${erasedPending}
             WHERE site = $1 AND ${isForgotten}`,
    forgetMails: `UPDATE message SET email = '', person = '', share = '',
                    stage = CASE WHEN stage < ${sent} THEN ${dropped} ELSE stage END
                  WHERE site = $1 AND ${isForgotten}`,
  }
})
/** What a request for signups that are to be confirmed says besides its terms. */
export interface Asks {
  readonly addressing: Addressing
  /** The places of signups whose tab was one too many, as `KnownKey.refused` has them. */
  readonly refused: string
}

/** The steps that store a request, unless its key is known or its token is used. */
export function stepsToAsk(
  { id, secret, keyHashOf, policy }: Pick<Site, 'id' | 'secret' | 'keyHashOf' | 'policy'>,
  signups: readonly Signup[],
  { idempotency, token }: AppendTerms,
  { addressing, refused }: Asks,
): readonly Step[] {
  const key = idempotency && keyHashOf(idempotency)
  const now = signups[0]?.receivedAt ?? 0
  const holds = policy.holdsSuspects === true
  const share = shareHash(secret, addressing.share)
  const adding = signups.map((signup): Step => {
    const { email, suspect, sheetTab, receivedAt, source, name, metadata } = signup
    const person = personOf(addressHash(secret, email))
    const signals = holds && suspect ? suspect.join(',') : ''
    const until = lastEndOf(policy, now)
    const tags = signup.tags.length === 0 ? '' : JSON.stringify(signup.tags)
    const cells = [email, source, name, tags, metadata, fieldsText(signup.fields)]
    const values = [id, person, until, key ?? null, token ?? null, signup.id] as const
    return [sql.ask, ...values, signals, share, addressing.language, sheetTab, receivedAt, ...cells]
  })
  const first = firstId(signups)
  const keys: Step[] = []
  if (idempotency && key !== undefined) {
    const fingerprint = fingerprintHash(secret, idempotency.fingerprint)
    keys.push([sql.keepKey, id, key, fingerprint, refused, now, first, signups.length])
  }
  if (token !== undefined) keys.push([sql.keepToken, token, now, first])
  return [...adding, ...keys]
}

/** Finds a row when the signups of a request were stored, and none when it was left out. */
export function stepToFindAsked(signups: readonly Signup[]): Step {
  return [sql.stored, firstId(signups)]
}

/** Counts signups of one request or of several, all of which were stored or left out in this transaction. */
export function stepsToCountAsked(
  site: Pick<Site, 'id' | 'policy'>,
  asked: readonly Signup[],
): readonly Step[] {
  const [first] = asked
  if (!first) return []
  return [[sql.count, site.id, asked.length, first.id], ...stepsToCountSuspects(site, asked)]
}

/** Counts the suspect ones among signups that were stored, or left out, in this transaction. */
export function stepsToCountSuspects(
  { id: site, policy }: Pick<Site, 'id' | 'policy'>,
  signups: readonly Pick<Signup, 'id' | 'receivedAt' | 'suspect'>[],
): readonly Step[] {
  const isHeld = policy.holdsSuspects === true
  const rows = signups.flatMap(({ id, receivedAt, suspect }) => {
    if (!suspect) return []
    const kinds = [
      { id, what: 'suspect', name: suspect.join(',') },
      ...(isHeld ? [{ id, what: 'held', name: '' }] : []),
    ]
    return [hourOf(receivedAt), allTime].flatMap((slot) => kinds.map((it) => ({ ...it, slot })))
  })
  return rows.length === 0 ? [] : [[sql.countSuspects, site, givenRows(rows)]]
}

function firstId(signups: readonly Signup[]): string | null {
  return signups[0]?.id ?? null
}

/** The statuses of these signups, which were stored just now. */
export function statusesOfAsked(signups: readonly Signup[], tabs: Tabs): readonly SignupStatus[] {
  return signups.map(({ id, receivedAt, sheetTab }) => ({
    ...{ id, receivedAt, position: 0, beside: 'pending' },
    sheetTab: tabs.called(sheetTab).name,
  }))
}

export function stepToFindPending(id: SignupId, site: number): Step {
  return [sql.find, id, site]
}

/** The signups of a request with an idempotency key. Their numbers stand there as negative positions. */
export function stepToRecall(first: number, last: number): Step {
  return [sql.between, -first, -last]
}

/** @param now on the wall clock, when the journal has one that its machines share */
export function toPendingStatus(row: Row, tabs: Tabs, now: Millis): SignupStatus {
  return {
    id: idOf(row['id']),
    position: 0,
    receivedAt: Number(row['receivedAt']),
    beside: flagOf(row['isLate']) || Number(row['expiresAt']) <= now ? 'expired' : 'pending',
    sheetTab: tabs.called(String(row['sheetTab'])).name,
  }
}

/** Finds the row for `toBlock`. */
export function stepToFindBlock(site: number, person: string): Step {
  return [sql.blockOf, site, person]
}

export const toBlock = rowReader({
  why: (why) => why as BlockRecord['why'],
  at: Number,
  until: numberOf,
})

/** As `Confirmation.ofPerson`. */
export function* besideListOf(
  site: number,
  person: string,
  { pending, messages }: BesideCursor = { pending: 0, messages: 0 },
): Operation<BesideList> {
  const [beside, mails, block] = yield* ask(
    [sql.ofPerson, site, person, pending],
    [sql.mailsOf, site, person, messages],
    stepToFindBlock(site, person),
  )
  const next = {
    pending: Number(beside.rows.at(-1)?.['position'] ?? pending),
    messages: Number(mails.rows.at(-1)?.['number'] ?? messages),
  }
  const isAll = Math.max(beside.rows.length, mails.rows.length) < toldMax
  return {
    ...(!isAll && { next }),
    pending: beside.rows.map((row) => ({
      until: numberOf(row['until']),
      signup: toRecord(row).signup,
    })),
    messages: mails.rows.map(toMessageRecord),
    block: block.rows.map(toBlock)[0],
  }
}

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
    [sql.forget, ...values],
    [sql.forgetMails, ...values],
  ]
}
