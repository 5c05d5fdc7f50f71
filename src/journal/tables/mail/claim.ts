import { hour } from '../../../platform/clock.ts'
import {
  type Claimed,
  type ClaimOrder,
  type Message,
  type MessageKind,
  recipientLimits,
} from '../../contracts/outbox.ts'
import { addressHash, personOf } from '../../hashes.ts'
import {
  ask,
  flagOf,
  givenPositions,
  givenRows,
  type Lock,
  messageLock,
  numberOf,
  type Operation,
  rowOf,
  rowReader,
  siteLock,
  statementsOf,
} from '../../sql.ts'
import { endOf } from '../pending/ending.ts'
import { messageStage } from '../layout.ts'
import { askedBackAtOnce, askingBack, isBlocked, ranks, waitSql } from './mails.ts'
import type { Site } from '../site.ts'

const { resting, ready, claimed, dropped } = messageStage

/** No message waits for longer, but after the clock was set back. */
const restMax = 25 * hour
/** At most how many messages are looked at together. */
const claimedAtOnce = 100
/** How often the next ones are looked at when all of them have to rest. */
const passesMax = 5
/** At most how many rows one claim changes of those that are due. */
const dueAtOnce = 200
/** How many slices of mails one claim makes at most. */
const askBackMax = 20

/** When a message may go, in SQL. */
const waitsUntil = waitSql({
  ...{ recipient: 'message.recipient', except: 'message.number' },
  paused: `message.rank <> ${ranks.welcomeAtOnce}`,
})
/** Whether an earlier try of a message was counted, in SQL. */
const isCounted = 'EXISTS (SELECT 1 FROM sending WHERE sending.message = message.number)'

const looks = statementsOf('claim look', ({ given }) => {
  const asked = given('asked', '$1', {
    ...{ no: 'integer', site: 'integer', by: 'text', first: 'integer', last: 'integer' },
    readyFrom: 'integer',
  })
  const of = (stage: number) => `FROM message WHERE site = asked.site AND stage = ${stage}`
  const inRange = 'rank BETWEEN asked.first AND asked.last'
  return {
    due: `SELECT asked.no, (SELECT min(next_at) ${of(resting)}) AS "nextAt",
            (SELECT max(next_at) ${of(resting)}) AS "lastAt",
            EXISTS (SELECT 1 ${of(ready)} AND rank BETWEEN asked."readyFrom" AND asked.last) AS "isReady",
            EXISTS (SELECT 1 ${of(claimed)} AND claimed_by <> asked.by AND ${inRange}) AS "isLeft",
            EXISTS (SELECT 1 FROM pending WHERE site = asked.site AND mail_wanted) AS "isWanted"
          FROM ${asked}`,
  }
})

const sql = statementsOf('claim', ({ given, ofPerson }) => {
  const firstDue = (due: string, order: string) => `
    SELECT number FROM (SELECT number FROM message WHERE site = $1 AND stage = ${resting} AND ${due}
      ORDER BY ${order} LIMIT ${dueAtOnce}) AS due`
  const numbers = `(SELECT position FROM ${given('asked', '$1', { position: 'number' })})`
  return {
    wake: `UPDATE message SET stage = ${ready} WHERE number IN (
             ${firstDue('next_at <= $2', 'next_at')}
             UNION ALL ${firstDue(`next_at > $2 + ${restMax}`, 'next_at DESC')})`,
    // A try that may have been made counts.
    free: `UPDATE message SET stage = ${ready}, tries = tries + 1
           WHERE site = $1 AND stage = ${claimed} AND claimed_by <> $2 AND rank BETWEEN $3 AND $4`,
    first: `SELECT message.number, message.id, kind, coalesce(pending.email, message.email) AS email,
              message.language, body, made_at AS "madeAt", tries, turn, recipient,
              CASE WHEN recipient = '' THEN 0 ELSE ${waitsUntil} END AS "waitsUntil",
              recipient <> '' AND NOT ${isCounted} AS "toCount",
              ${isBlocked('message.kind', 'message.person', 'message.recipient', '$4')} AS "isBlocked"
            FROM message LEFT JOIN pending ON pending.number = message.pending
            WHERE message.site = $1 AND stage = ${ready} AND rank BETWEEN $2 AND $3
            ORDER BY rank, turn, message.number LIMIT ${claimedAtOnce}`,
    drop: `UPDATE message SET stage = ${dropped}, email = '', ended_at = $2 WHERE number IN ${numbers}`,
    begun: 'SELECT count(*) AS count FROM sending WHERE at > $1 AND at <= $2',
    paced: 'SELECT at FROM sending WHERE at > $1 AND at <= $2 ORDER BY at DESC LIMIT 1 OFFSET $3',
    // With =, PostgreSQL may read all messages, because it thinks that given rows are many.
    rest: `UPDATE message SET stage = ${resting}, next_at = rested.until
           FROM ${given('rested', '$1', { number: 'number', until: 'number' })}
           WHERE message.number BETWEEN rested.number AND rested.number`,
    claim: `UPDATE message SET stage = ${claimed}, claimed_by = $2 WHERE number IN ${numbers}`,
    count: `INSERT INTO sending (message, site, recipient, at)
            SELECT number, $2, recipient, $3
            FROM ${given('counted', '$1', { number: 'number', recipient: 'text' })} WHERE true
            ON CONFLICT (message) DO NOTHING`,
    countAgain: `UPDATE sending SET at = $2 WHERE message IN ${numbers}`,
    forgetOld: `DELETE FROM sending WHERE message IN (
                  SELECT message FROM sending WHERE at < $1 ORDER BY at LIMIT ${dueAtOnce})`,
    turn: `INSERT INTO counter (name, value) VALUES ('turn', $1)
           ON CONFLICT (name) DO UPDATE SET value = excluded.value WHERE excluded.value > counter.value`,
    next: `SELECT (SELECT min(next_at) FROM message WHERE site = $1 AND stage = ${resting}) AS "nextAt",
             EXISTS (SELECT 1 FROM message
                     WHERE site = $1 AND stage = ${ready} AND rank BETWEEN $2 AND $3) AS "isReady"`,
    // PostgreSQL would make a join with all signups of EXISTS.
    listed: `SELECT number
             FROM ${given('asked', '$2', { number: 'number', person: 'text', hash: 'text' })}
             WHERE (SELECT 1 FROM tab WHERE site = $1 AND (SELECT 1 FROM signup WHERE ${ofPerson({
               ...{ signup: 'signup', person: 'asked.person', tab: 'tab.id' },
               after:
                 'coalesce((SELECT upto FROM tombstone WHERE site = $1 AND hash = asked.hash), 0)',
             })} LIMIT 1) = 1 LIMIT 1) = 1`,
  }
})

/** Only one instance at a time claims, whatever its sites, so that the limits of all hold. */
function locksOf({ id }: Pick<Site, 'id'>): readonly Lock[] {
  return [siteLock(id), { of: 'account', account: 'mail' }]
}

/** As `Outbox.claim`. */
export async function claim(site: Site, order: ClaimOrder): Promise<Claimed> {
  const { nextAt, isDue } = await looking(site, order)
  if (!isDue) return { messages: [], nextAt, pacedUntil: order.pacedUntil }
  if (order.kinds.includes('confirm')) await askBack(site, order)
  for (let passes = 1; ; passes++) {
    const { mayHaveMore, ...taken } = await site.db.transact(locksOf(site), () =>
      claiming(site, order),
    )
    if (!mayHaveMore || passes === passesMax) return taken
  }
}

/** Makes the mails that pending signups want: as many as takes a moment, so that no rush holds up those that wait. */
async function askBack(site: Site, { now }: ClaimOrder): Promise<void> {
  for (let slice = 0, more = true; more && slice < askBackMax; slice++) {
    const locks = [siteLock(site.id), messageLock]
    const decided = await site.db.transact(locks, () => askingBack(site, now))
    more = decided === askedBackAtOnce
    // An engine may answer without a turn of the event loop.
    await new Promise((resolve) => setImmediate(resolve))
  }
}

/** The first and the last rank of these kinds, which stand side by side. */
export function rangeOf(kinds: readonly MessageKind[]): readonly [number, number] {
  const all = kinds.map((kind) => ranks[kind])
  const first = kinds.map((kind) => ranks[kind === 'welcome' ? 'welcomeAtOnce' : kind])
  return [Math.min(...first), Math.max(...all)]
}

export const kindOf = (kind: unknown) => kind as MessageKind

/** Whether there may be something to claim. All sites of an instance look together. */
async function looking({ db, id }: Site, { kinds, by, now, pacedUntil = 0 }: ClaimOrder) {
  const [first, last] = rangeOf(kinds)
  // What goes to the owner has no pace.
  const readyFrom = pacedUntil > now ? Math.max(first, ranks.report) : first
  const [row = {}] = await db.queryTogether(looks.due, { site: id, by, first, last, readyFrom })
  const { nextAt, lastAt = 0, ...flags } = toLook(row)
  const isDue = (nextAt ?? Infinity) <= now || lastAt > now + restMax
  return { nextAt, isDue: isDue || flags.isReady || flags.isLeft || flags.isWanted }
}

const toLook = rowReader({
  ...{ nextAt: numberOf, lastAt: numberOf, isReady: flagOf, isLeft: flagOf, isWanted: flagOf },
})

/** Claims messages with two lists of statements. Says whether others may be due behind those that have to rest. */
function* claiming(
  { id, secret, policy }: Site,
  order: ClaimOrder,
): Operation<Claimed & { readonly mayHaveMore: boolean }> {
  const { by, now, perHour = Infinity, kinds } = order
  const [from, to] = rangeOf(kinds)
  const [, , , begun, visitors, owner] = yield* ask(
    [sql.wake, id, now],
    [sql.free, id, by, from, to],
    [sql.forgetOld, now - recipientLimits.dayMs],
    [sql.begun, now - hour, now],
    [sql.first, id, from, Math.min(to, ranks.welcome), now],
    // What goes to the owner has no pace.
    [sql.first, id, Math.max(from, ranks.report), to, now],
  )
  const { chosen, dropped, rested, isPaced } = decide(
    [...visitors.rows, ...owner.rows].map(toCandidate),
    {
      ...order,
      left: perHour - Number(rowOf(begun)['count']),
    },
  )
  const counted = chosen.filter(({ toCount }) => toCount)
  const again = chosen.filter(({ toCount, recipient }) => !toCount && recipient !== '')
  const hashed = chosen
    .filter(({ kind }) => kind === 'confirm')
    .map(({ number, email }) => ({ number, hash: addressHash(secret, email) }))
    .map((one) => ({ ...one, person: personOf(one.hash) }))
  const [listed, , , , , , , paced, next] = yield* ask(
    [sql.listed, id, givenRows(hashed)],
    [sql.drop, givenOf(dropped), now],
    [sql.rest, givenRows(rested.map(({ number, waitsUntil }) => ({ number, until: waitsUntil })))],
    [sql.claim, givenOf(chosen), by],
    [
      sql.count,
      givenRows(counted.map(({ number, recipient }) => ({ number, recipient }))),
      id,
      now,
    ],
    [sql.countAgain, givenOf(again), now],
    [sql.turn, Math.max(0, ...counted.map(({ turn }) => turn))],
    [sql.paced, now - hour, now, isPaced ? perHour - 1 : 0],
    [sql.next, id, from, to],
  )
  const onList = new Set(listed.rows.map((row) => Number(row['number'])))
  const isChanged = dropped.length + rested.length > 0
  const { nextAt, isReady } = rowOf(next)
  const pacedUntil = isPaced ? Number(rowOf(paced)['at']) + hour + 1 : undefined
  const times = [numberOf(nextAt), flagOf(isReady) ? (pacedUntil ?? now) : undefined]
  const known = times.filter((time) => time !== undefined)
  return {
    messages: chosen.map((one) => ({
      ...messageOf(one),
      ...{ isListed: onList.has(one.number), linkUntil: endOf(policy, now) },
    })),
    nextAt: known.length === 0 ? undefined : Math.min(...known),
    // When one went, a message whose place is counted already may have to wait for it.
    pacedUntil: chosen.length === 0 && !isChanged ? pacedUntil : undefined,
    mayHaveMore: chosen.length === 0 && isChanged,
  }
}

function givenOf(candidates: readonly Candidate[]): string {
  return givenPositions(candidates.map(({ number }) => number))
}

/**
 * What becomes of messages that are ready, in their order.
 *
 * @param terms.left how many the pace still lets go
 */
function decide(
  candidates: readonly Candidate[],
  { now, max, left }: ClaimOrder & { left: number },
) {
  const [chosen, dropped, rested]: [Candidate[], Candidate[], Candidate[]] = [[], [], []]
  const taken = new Set<string>()
  let begun = 0
  let isPaced = false
  for (const candidate of candidates) {
    const { recipient, isBlocked, waitsUntil, toCount } = candidate
    if (isBlocked && candidate.kind !== 'confirm') dropped.push(candidate)
    else if (waitsUntil > now) rested.push(candidate)
    else if (chosen.length === max || taken.has(recipient)) continue
    else if (toCount && begun >= left) isPaced = true
    else {
      if (toCount) begun += 1
      if (recipient !== '') taken.add(recipient)
      chosen.push(candidate)
    }
  }
  return { chosen, dropped, rested, isPaced }
}

const toCandidate = rowReader({
  ...{ number: Number, id: String, kind: kindOf, email: String, language: String },
  ...{ body: String, madeAt: Number, tries: Number, turn: Number, recipient: String },
  /** Until when the limits of its mailbox hold it. */
  waitsUntil: Number,
  ...{ toCount: flagOf, isBlocked: flagOf },
})
type Candidate = ReturnType<typeof toCandidate>

function messageOf(one: Candidate): Omit<Message, 'isListed'> {
  const { number, id, kind, email, language, body, madeAt, tries, isBlocked } = one
  // Nobody learns that a mail is unwanted that asks: it waits, counts and fails like others.
  const isUnwanted = isBlocked || (kind === 'confirm' && email === '')
  return { number, id, kind, email, language, body, madeAt, tries, isUnwanted }
}
