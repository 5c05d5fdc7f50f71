import { fieldsText } from '../../signup/field.ts'
import type { Millis, Signup, SignupId } from '../../signup/signup.ts'
import type { BesideList, BlockRecord, MessageRecord } from '../contracts/confirmation.ts'
import type { Addressing, AppendTerms, SignupStatus } from '../contracts/intake-log.ts'
import { hourOf } from '../contracts/reader.ts'
import { addressHash, fingerprintHash, keyHash, personOf, shareHash } from '../hashes.ts'
import {
  ask,
  givenPositions,
  givenRows,
  numberOf,
  type Operation,
  type Row,
  rowReader,
  statementsOf,
  type Step,
} from '../sql.ts'
import { allHours, besideState, messageStage } from './layout.ts'
import { waitMsOf } from './mails.ts'
import { idOf, toRecord } from './rows.ts'
import type { Site } from './site.ts'
import { tabStatus, type Tabs } from './tabs.ts'

const { pending, declined, left, over } = besideState
const { sent, dropped } = messageStage

const sweptAtOnce = 100
/** For how long a mail is known whose link can do nothing any more. */
const mailKnownMs = 60 * 24 * 60 * 60 * 1000
/** How much is told of a person. */
const toldMax = 1_000

/** What a signup beside the list has in its cells when they are erased. */
export const erasedPending = `email = '', source = '', name = '', tags = '', metadata = '', fields = '',
  sheet_tab = '', language = '', share = '', signals = '', mail_wanted = false, kept_until = NULL`

/** Counts the signups of the site $1 as pending no more that are so and for which this holds. To run before they change. */
export function closing(condition: string): string {
  return `INSERT INTO hour_pending AS known (site, hour, closed)
          SELECT $1, ${allHours}, count(*) FROM pending
          WHERE site = $1 AND state = ${pending} AND ${condition}
          ON CONFLICT (site, hour) DO UPDATE SET closed = known.closed + excluded.closed`
}

/** What `toRecord` reads. */
export const pendingColumns = `number AS position, pending.id, received_at AS "receivedAt", email, source, name, tags,
  metadata, fields, sheet_tab AS "sheetTab",
  CASE WHEN signals <> '' THEN signals || '  ' || sheet_tab END AS suspect`

/** Whether the person $2 is forgotten by a new tombstone of $5 up to $4; or in any case, as $3 says. */
const isForgotten = `person = $2 AND ($3 OR NOT EXISTS (
  SELECT 1 FROM tombstone WHERE site = $1 AND tombstone.hash = $5 AND upto >= $4))`

const statusColumns = `id, received_at AS "receivedAt", sheet_tab AS "sheetTab",
  expires_at AS "expiresAt"`

const sql = statementsOf('pending', ({ given, id }) => {
  const isGiven = `number IN (SELECT position FROM ${given('asked', '$2', { position: 'number' })})`
  return {
    ask: `
      INSERT INTO pending (number, id, site, person, state, expires_at, signals, mail_wanted, share,
        language, sheet_tab, received_at, email, source, name, tags, metadata, fields)
      SELECT (SELECT coalesce(max(number), 0) FROM pending) + 1, ${id('$6')}, $1, $2, ${pending},
        CAST($3 AS bigint), $7, $7 = '', $8, $9, $10, CAST($11 AS bigint), $12, $13, $14, $15, $16, $17
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
    // Only if the signup $4 was stored.
    count: `INSERT INTO hour_pending AS known (site, hour, asked)
            SELECT $1, CAST($2 AS integer), CAST($3 AS bigint)
            WHERE EXISTS (SELECT 1 FROM pending WHERE id = ${id('$4')})
            ON CONFLICT (site, hour) DO UPDATE SET asked = known.asked + excluded.asked`,
    countSuspects: `
      INSERT INTO hour_suspect AS known (site, hour, signals, count)
      SELECT $1, hour, signals, count(*)
      FROM ${given('given', '$2', { id: 'text', signals: 'text', hour: 'integer' })}
      WHERE EXISTS (SELECT 1 FROM signup WHERE signup.id = ${id('given.id')})
        OR EXISTS (SELECT 1 FROM pending WHERE pending.id = ${id('given.id')})
      GROUP BY hour, signals
      ON CONFLICT (site, hour, signals) DO UPDATE SET count = known.count + excluded.count`,
    find: `SELECT ${statusColumns} FROM pending WHERE id = ${id('$1')} AND site = $2`,
    between: `SELECT ${statusColumns} FROM pending WHERE number BETWEEN $1 AND $2 ORDER BY number`,
    expired: `SELECT number FROM pending WHERE site = $1 AND kept_until <= $2
              ORDER BY kept_until LIMIT ${sweptAtOnce}`,
    close: closing(isGiven),
    end: `UPDATE pending SET state = ${over}, ${erasedPending} WHERE site = $1 AND ${isGiven}`,
    // Who has left for good is on the list of no mail. The welcome itself stays.
    forgetMailed: `UPDATE message SET email = '' WHERE site = $1 AND kind = 'welcome' AND person IN (
                     SELECT person FROM pending WHERE state = ${left} AND ${isGiven})`,
    // A welcome stays, so that nobody is greeted twice.
    oldMails: `DELETE FROM message WHERE number IN (
                 SELECT number FROM message WHERE site = $1 AND ended_at < $2 AND kind <> 'welcome'
                 ORDER BY ended_at LIMIT ${sweptAtOnce})`,
    ofPerson: `SELECT ${pendingColumns}, state, kept_until AS until
               FROM pending WHERE site = $1 AND person = $2 AND email <> '' ORDER BY number LIMIT ${toldMax}`,
    mailsOf: `SELECT kind, made_at AS "madeAt", tries,
                CASE WHEN stage = ${sent} THEN ended_at END AS "sentAt" FROM message
              WHERE site = $1 AND person = $2 ORDER BY number LIMIT ${toldMax}`,
    blockOf: 'SELECT why, at, until FROM block WHERE site = $1 AND person = $2',
    closeForgotten: closing(isForgotten),
    forget: `UPDATE pending SET state = ${over}, expires_at = 0, person = '', ${erasedPending}
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
  { id, secret, policy }: Pick<Site, 'id' | 'secret' | 'policy'>,
  signups: readonly Signup[],
  { idempotency, token }: AppendTerms,
  { addressing, refused }: Asks,
): readonly Step[] {
  const key = idempotency && keyHash(secret, idempotency)
  const now = signups[0]?.receivedAt ?? 0
  const holds = policy.quarantineTab !== undefined
  const expiresAt = now + waitMsOf(policy)
  const share = shareHash(secret, addressing.share)
  const adding = signups.map((signup): Step => {
    const { email, suspect, sheetTab, receivedAt, source, name, metadata } = signup
    const person = personOf(addressHash(secret, email))
    const signals = holds && suspect ? suspect.join(',') : ''
    const until = signals === '' ? null : expiresAt
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
  { id }: Pick<Site, 'id'>,
  asked: readonly Signup[],
): readonly Step[] {
  const [first] = asked
  if (!first) return []
  const hours = new Map<number, number>([[allHours, asked.length]])
  for (const { receivedAt } of asked) {
    const hour = hourOf(receivedAt)
    hours.set(hour, (hours.get(hour) ?? 0) + 1)
  }
  const counting = Array.from(hours, ([hour, n]): Step => [sql.count, id, hour, n, first.id])
  return [...counting, ...stepsToCountSuspects(id, asked)]
}

/** Counts the suspect ones among signups that were stored, or left out, in this transaction. */
export function stepsToCountSuspects(
  site: number,
  signups: readonly Pick<Signup, 'id' | 'receivedAt' | 'suspect'>[],
): readonly Step[] {
  const rows = signups.flatMap(({ id, receivedAt, suspect }) => {
    const one = { id, signals: (suspect ?? []).join(',') }
    return suspect ? [hourOf(receivedAt), allHours].map((hour) => ({ ...one, hour })) : []
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
    ...tabStatus(tabs.called(sheetTab)),
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
  const expiresAt = numberOf(row['expiresAt'])
  return {
    id: idOf(row['id']),
    position: 0,
    receivedAt: Number(row['receivedAt']),
    beside: expiresAt !== undefined && expiresAt <= now ? 'expired' : 'pending',
    ...tabStatus(tabs.called(String(row['sheetTab']))),
  }
}

/** The numbers of these rows of `pending`, as given positions. */
export function givenNumbers(rows: readonly Row[]): string {
  return givenPositions(rows.map(({ number }) => Number(number)))
}

/** Erases pending signups with these numbers. */
export function stepsToEnd({ id, noteErased }: Site, numbers: string): readonly Step[] {
  return [[sql.close, id, numbers], [sql.end, id, numbers], ...noteErased()]
}

/** As `Confirmation.sweep`. */
export function* sweeping(site: Site, now: Millis): Operation<boolean> {
  const { id } = site
  const [{ rows }] = yield* ask([sql.expired, id, now])
  const numbers = givenNumbers(rows)
  const [mails] = yield* ask(
    [sql.oldMails, id, now - mailKnownMs],
    [sql.forgetMailed, id, numbers],
    ...stepsToEnd(site, numbers),
  )
  return rows.length === sweptAtOnce || mails.changes === sweptAtOnce
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
export function* besideListOf(site: number, person: string): Operation<BesideList> {
  const [beside, mails, block] = yield* ask(
    [sql.ofPerson, site, person],
    [sql.mailsOf, site, person],
    stepToFindBlock(site, person),
  )
  return {
    pending: beside.rows.map((row) => ({ ...toStanding(row), signup: toRecord(row).signup })),
    messages: mails.rows.map(toMessageRecord),
    block: block.rows.map(toBlock)[0],
  }
}

const stateNames = { [pending]: 'pending', [declined]: 'declined', [left]: 'left' } as const

const toStanding = rowReader({
  state: (state) => stateNames[state as keyof typeof stateNames],
  until: numberOf,
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
    [sql.forget, ...values],
    [sql.forgetMails, ...values],
  ]
}
