import { fieldsText } from '../../signup/field.ts'
import type { Millis, Signup, SignupId } from '../../signup/signup.ts'
import type { Addressing, AppendTerms, SignupStatus } from '../contracts/intake-log.ts'
import { hourOf, type SignupRecord } from '../contracts/reader.ts'
import { addressHash, fingerprintHash, keyHash, personOf, shareHash } from '../hashes.ts'
import { givenPositions, givenRows, numberOf, type Row, statementsOf, type Step } from '../sql.ts'
import { allHours, besideState } from './layout.ts'
import { waitMsOf } from './mails.ts'
import { idOf, toRecord } from './rows.ts'
import type { ReadSite } from './facts.ts'
import type { Site } from './site.ts'
import { tabStatus, type Tabs } from './tabs.ts'

const { pending } = besideState

/** What a signup beside the list has in its cells when they are erased. */
export const erasedPending = `email = '', source = '', name = '', tags = '', metadata = '', fields = '',
  sheet_tab = '', language = '', share = '', signals = '', mail_wanted = false, kept_until = NULL`

/** The condition for those of $1 that are held: suspect, and without a mail. */
const isHeld = `site = $1 AND signals <> '' AND state = ${pending}`

/** What `toRecord` reads. */
const recordColumns = `number AS position, pending.id, received_at AS "receivedAt", email, source, name, tags,
  metadata, fields, sheet_tab AS "sheetTab",
  CASE WHEN signals <> '' THEN signals || '  ' || sheet_tab END AS suspect`

const statusColumns = `number, id, received_at AS "receivedAt", sheet_tab AS "sheetTab", state,
  expires_at AS "expiresAt"`

const sql = statementsOf('pending', (dialect) => {
  const { given, id } = dialect
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
      SELECT $1, given.hour, given.signals, count(*)
      FROM ${given('given', '$2', { id: 'text', signals: 'text', hour: 'integer' })}
      JOIN pending ON pending.id = ${id('given.id')}
      GROUP BY given.hour, given.signals
      ON CONFLICT (site, hour, signals) DO UPDATE SET count = known.count + excluded.count`,
    find: `SELECT ${statusColumns} FROM pending WHERE id = ${id('$1')} AND site = $2`,
    between: `SELECT ${statusColumns} FROM pending WHERE number BETWEEN $1 AND $2 ORDER BY number`,
    all: `SELECT ${recordColumns} FROM pending
          WHERE site + 0 = $1 AND number > $2 AND email <> '' AND state = ${pending} ORDER BY number LIMIT $3`,
    held: `SELECT ${recordColumns} FROM pending
           WHERE ${isHeld} AND number > $2 ORDER BY number LIMIT $3`,
    heldAmong: `SELECT ${recordColumns} FROM ${given('asked', '$2', { id: 'text' })}
                JOIN pending ON pending.id = ${id('asked.id')} WHERE ${isHeld} ORDER BY number`,
    heldAt: `SELECT number FROM ${given('asked', '$2', { position: 'number' })}
             JOIN pending ON pending.number = asked.position WHERE ${isHeld} ORDER BY number`,
    release: `UPDATE pending SET signals = '', mail_wanted = true, expires_at = NULL WHERE number = $1`,
    erase: `UPDATE pending SET ${erasedPending}, state = ${besideState.over} WHERE number = $1`,
    close: `INSERT INTO hour_pending AS known (site, hour, closed) VALUES ($1, ${allHours}, $2)
            ON CONFLICT (site, hour) DO UPDATE SET closed = known.closed + excluded.closed`,
  }
})

/** The numbers of held signups stand behind all positions. */
export const besideBase = 2 ** 51

/** What a request for signups that are to be confirmed says besides its terms. */
export interface Asks {
  readonly addressing: Addressing
  /** The places of signups whose tab was one too many, as `KnownKey.refused` has them. */
  readonly refused: string
}

/** The steps that store a request, unless its key is known or its token is used. */
export function stepsToAsk(
  { id, secret, policy }: Pick<Site, 'id' | 'secret' | 'policy'>,
  { signups, terms }: { readonly signups: readonly Signup[]; readonly terms: AppendTerms },
  { addressing, refused }: Asks,
): readonly Step[] {
  const { idempotency, token } = terms
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
  const suspects = asked.flatMap(({ id: signup, receivedAt, suspect }) => {
    const one = { id: signup, signals: (suspect ?? []).join(',') }
    return suspect ? [hourOf(receivedAt), allHours].map((hour) => ({ ...one, hour })) : []
  })
  const counting = Array.from(hours, ([hour, n]): Step => [sql.count, id, hour, n, first.id])
  return suspects.length === 0
    ? counting
    : [...counting, [sql.countSuspects, id, givenRows(suspects)]]
}

/** Notes that so many signups are not pending any more. */
export function stepToClose(site: number, count: number): Step {
  return [sql.close, site, count]
}

/** The numbers of these rows of `pending`, as given positions. */
export function givenNumbers(rows: readonly Row[]): string {
  return givenPositions(rows.map(({ number }) => Number(number)))
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

/** As `Reader.pending`. */
export async function pendingAfter({ db, id }: ReadSite, after: number, max: number) {
  const [{ rows }] = await db.query([sql.all, id, after, max])
  return rows.map(toRecord)
}

/** The held ones among them, behind those of the list. */
export async function heldBeside({ db, id }: ReadSite, after: number, max: number) {
  const [{ rows }] = await db.query([sql.held, id, Math.max(0, after - besideBase), max])
  return rows.map(toHeld)
}

/** Those of these ids that are held beside the list. */
export async function heldAmong({ db, id }: ReadSite, ids: readonly SignupId[]) {
  const asked = givenRows([...new Set(ids)].map((one) => ({ id: one })))
  const [{ rows }] = await db.query([sql.heldAmong, id, asked])
  return rows.map(toHeld)
}

function toHeld(row: Row): SignupRecord {
  const { position, signup } = toRecord(row)
  return { position: position + besideBase, signup }
}

export const heldPending = {
  /** Those at these positions of `heldBeside`. */
  at: (site: number, positions: readonly number[]): Step => [
    sql.heldAt,
    site,
    givenRows(positions.map((position) => ({ position: position - besideBase }))),
  ],
  /** Its mail goes as if it was asked for now. */
  release: (row: Row): Step => [sql.release, Number(row['number'])],
  erase: (row: Row): Step => [sql.erase, Number(row['number'])],
}
