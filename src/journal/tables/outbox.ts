import { hour } from '../../platform/clock.ts'
import type { Millis } from '../../signup/signup.ts'
import {
  type Claimed,
  type ClaimOrder,
  type Message,
  type MessageKind,
  type MessageOutcome,
  type Outbox,
  type OutboxFigures,
  recipientLimits,
} from '../contracts/outbox.ts'
import { addressHash } from '../hashes.ts'
import {
  ask,
  flagOf,
  type Lock,
  messageLock,
  numberOf,
  type Operation,
  type Row,
  rowOf,
  rowReader,
  siteLock,
  statementsOf,
  type Step,
} from '../sql.ts'
import { factOf, readFact, setFact } from './facts.ts'
import { besideState, messageStage } from './layout.ts'
import { askedBackAtOnce, askingBack, isBlocked, ranks, waitMsOf, waitSql } from './mails.ts'
import type { Site } from './site.ts'

const { resting, ready, claimed, sent, dropped } = messageStage

/** The oldest report or notice gives way to a new one, so that a receiver that is gone fills no journal. */
const tellingMax = 20
/** No message waits for longer, but after the clock was set back. */
const restMax = 25 * hour
/** At most how many messages are looked at together. */
const claimedAtOnce = 100
/** How often the next ones are looked at when all of them have to rest. */
const passesMax = 5
/** How many slices of mails one claim makes at most. */
const askBackMax = 10
/** How many figures are counted: more are told as so many. */
const countedMax = 100_000

/** When a message may go, in SQL. */
const waitsUntil = waitSql({
  ...{ recipient: 'message.recipient', except: 'message.number' },
  paused: `message.rank <> ${ranks.welcomeAtOnce}`,
})
/** Whether an earlier try of a message was counted, in SQL. */
const isCounted = 'EXISTS (SELECT 1 FROM sending WHERE sending.message = message.number)'

const sql = statementsOf('outbox', ({ lower }) => {
  return {
    add: `INSERT INTO message (number, id, site, kind, rank, turn, person, recipient, email, language,
            share, body, made_at, stage, next_at)
          SELECT (SELECT coalesce(max(number), 0) FROM message) + 1, $2, $1, $3, $4, 0, '', '', '', '',
            '', $5, $6, ${resting}, $6
          WHERE true ON CONFLICT (id) DO NOTHING`,
    dropOld: `UPDATE message SET stage = ${dropped}, body = '', ended_at = $3
              WHERE number IN (SELECT number FROM message
                WHERE site = $1 AND person = '' AND kind = $2 AND stage < ${claimed}
                ORDER BY number DESC LIMIT 1000 OFFSET ${tellingMax})`,
    wake: `UPDATE message SET stage = ${ready}
           WHERE site = $1 AND stage = ${resting} AND (next_at <= $2 OR next_at > $2 + ${restMax})`,
    // A try that may have been made counts.
    free: `UPDATE message SET stage = ${ready}, tries = tries + 1
           WHERE site = $1 AND stage = ${claimed} AND claimed_by <> $2 AND rank BETWEEN $3 AND $4`,
    first: `SELECT number, id, kind, email, language, body, made_at AS "madeAt", tries, turn, recipient,
              CASE WHEN recipient = '' THEN 0 ELSE ${waitsUntil} END AS "waitsUntil",
              recipient <> '' AND NOT ${isCounted} AS "toCount",
              ${isBlocked('message.person', 'message.recipient', '$4')} AS "isBlocked"
            FROM message WHERE site = $1 AND stage = ${ready} AND rank BETWEEN $2 AND $3
            ORDER BY rank, turn, number LIMIT ${claimedAtOnce}`,
    drop: `UPDATE message SET stage = ${dropped}, email = '', ended_at = $2 WHERE number = $1`,
    paced: 'SELECT at FROM sending WHERE at > $1 AND at <= $2 ORDER BY at DESC LIMIT 1 OFFSET $3',
    rest: `UPDATE message SET stage = ${resting}, next_at = $2 WHERE number = $1`,
    claim: `UPDATE message SET stage = ${claimed}, claimed_by = $2 WHERE number = $1`,
    count: `INSERT INTO sending (message, site, recipient, at) VALUES ($1, $2, $3, $4)
            ON CONFLICT (message) DO NOTHING`,
    forgetOld: 'DELETE FROM sending WHERE at < $1',
    turn: `INSERT INTO counter (name, value) VALUES ('turn', $1)
           ON CONFLICT (name) DO UPDATE SET value = excluded.value WHERE excluded.value > counter.value`,
    next: `SELECT (SELECT min(next_at) FROM message WHERE site = $1 AND stage = ${resting}) AS "nextAt",
             EXISTS (SELECT 1 FROM message
                     WHERE site = $1 AND stage = ${ready} AND rank BETWEEN $2 AND $3) AS "isReady"`,
    listed: `SELECT 1 FROM signup JOIN tab ON tab.id = signup.tab
             WHERE ${lower('signup.email')} = ${lower('$2')} AND tab.site = $1
               AND signup.position + 0 > coalesce((
                 SELECT upto FROM tombstone WHERE site = $1 AND hash = $3), 0) LIMIT 1`,
    isClaimed: `SELECT 1 FROM message WHERE number = $1 AND stage = ${claimed} AND claimed_by = $2`,
    oldest: `SELECT min(number) AS number FROM message
             WHERE site = $1 AND person = '' AND kind = $2 AND stage < ${sent}`,
    find: `SELECT kind, person, tries FROM message WHERE number = $1 AND stage = ${claimed}`,
    again: `UPDATE message SET stage = ${resting}, next_at = $2, tries = tries + $3
            WHERE number = $1 AND stage = ${claimed}`,
    uncount: 'DELETE FROM sending WHERE message = $1',
    handedOver: 'UPDATE sending SET at = $2 WHERE message = $1',
    end: `UPDATE message SET stage = $2, ended_at = $3, tries = tries + 1, body = '',
            email = CASE WHEN kind = 'welcome' THEN email ELSE '' END
          WHERE number = $1 AND stage = ${claimed}`,
    // All of it can be confirmed by this mail from now on.
    open: `UPDATE pending SET expires_at = $3, kept_until = $3
           WHERE site = $1 AND person = $2 AND state = ${besideState.pending} AND signals = ''
             AND (expires_at IS NULL OR expires_at > $4)`,
    waiting: `SELECT count(*) AS waiting, min(CASE WHEN stage = ${ready} THEN made_at END) AS oldest
              FROM (SELECT stage, made_at FROM message
                    WHERE site = $1 AND stage = ${ready} AND rank BETWEEN $2 AND $3
                    UNION ALL SELECT stage, made_at FROM message
                    WHERE site = $1 AND stage = ${resting} AND rank BETWEEN $2 AND $3
                    UNION ALL SELECT stage, made_at FROM message
                    WHERE site = $1 AND stage = ${claimed} AND rank BETWEEN $2 AND $3
                    UNION ALL SELECT ${ready}, received_at FROM pending
                    WHERE site = $1 AND mail_wanted AND $2 = ${ranks.confirm}
                    LIMIT ${countedMax}) AS waiting`,
  }
})

/** Only one instance at a time claims, whatever its sites, so that the limits of all hold. */
function locksOf({ id }: Pick<Site, 'id'>): readonly Lock[] {
  return [siteLock(id), { of: 'account', account: 'mail' }]
}

/** The messages of a site. */
export function outboxOf(site: Site): Outbox {
  const { db, id } = site
  return {
    add: async ({ id: message, kind, body, at }) => {
      await db.change(
        [siteLock(id), messageLock],
        [sql.add, id, message, kind, ranks[kind], body, at],
        [sql.dropOld, id, kind, at],
      )
    },
    claim: async (order) => {
      if (order.kinds.includes('confirm')) await askBack(site, order.now)
      return db.transact(locksOf(site), () => claiming(site, order))
    },
    isClaimed: async (number, by) => {
      const [{ rows }] = await db.query([sql.isClaimed, number, by])
      return rows.length > 0
    },
    settle: async (number, outcome) => {
      await db.transact([siteLock(id)], () => settling(site, number, outcome))
    },
    figures: (kinds) => figuresOf(site, kinds),
  }
}

/** Makes the mails that pending signups want: as many as takes a moment, so that no rush holds up those that wait. */
async function askBack({ db, ...site }: Site, now: Millis): Promise<void> {
  for (let slice = 0, more = true; more && slice < askBackMax; slice++) {
    const decided = await db.transact([siteLock(site.id), messageLock], () => askingBack(site, now))
    more = decided === askedBackAtOnce
    // An engine may answer without a turn of the event loop.
    await new Promise((resolve) => setImmediate(resolve))
  }
}

/** The first and the last rank of these kinds, which stand side by side. */
function rangeOf(kinds: readonly MessageKind[]): readonly [number, number] {
  const all = kinds.map((kind) => ranks[kind])
  const first = kinds.map((kind) => ranks[kind === 'welcome' ? 'welcomeAtOnce' : kind])
  return [Math.min(...first), Math.max(...all)]
}

function* claiming(site: Site, order: ClaimOrder): Operation<Claimed> {
  const { by, now, max, perHour = Infinity } = order
  const { id } = site
  const [from, to] = rangeOf(order.kinds)
  yield* ask(
    [sql.wake, id, now],
    [sql.free, id, by, from, to],
    [sql.forgetOld, now - recipientLimits.dayMs],
  )
  const [kind = 'notice'] = order.kinds
  const oldest = order.inOrder
    ? rowOf((yield* ask([sql.oldest, id, kind]))[0])['number']
    : undefined
  const messages: Row[] = []
  const taken = new Set<unknown>()
  let pacedUntil: Millis | undefined
  let lowest = from
  for (let passes = 0, more = true; more && passes < passesMax && messages.length < max; passes++) {
    const [{ rows }] = yield* ask([sql.first, id, lowest, to, now])
    more = false
    for (const row of rows) {
      const [number, waitsUntil] = [Number(row['number']), Number(row['waitsUntil'])]
      if (oldest !== undefined && number !== Number(oldest)) continue
      const isBlocked = flagOf(row['isBlocked'])
      if (isBlocked || waitsUntil > now) {
        yield* ask(isBlocked ? [sql.drop, number, now] : [sql.rest, number, waitsUntil])
        more = true
        continue
      }
      const recipient = String(row['recipient'])
      if (messages.length === max || taken.has(recipient)) continue
      if (flagOf(row['toCount'])) {
        pacedUntil = yield* paced(now, perHour)
        if (pacedUntil !== undefined) {
          // What goes to the owner has no pace.
          lowest = ranks.report
          more = to >= lowest
          break
        }
        yield* ask([sql.count, number, id, recipient, now], [sql.turn, Number(row['turn'])])
      } else if (recipient !== '') {
        yield* ask([sql.handedOver, number, now])
      }
      yield* ask([sql.claim, number, by])
      if (recipient !== '') taken.add(recipient)
      messages.push(row)
    }
  }
  const [{ rows }] = yield* ask([sql.next, id, from, to])
  const { nextAt, isReady } = rowOf({ rows })
  const nextReady = flagOf(isReady) ? (pacedUntil ?? now) : undefined
  const times = [numberOf(nextAt), nextReady].filter((time) => time !== undefined)
  return {
    messages: yield* described(site, messages),
    nextAt: times.length === 0 ? undefined : Math.min(...times),
  }
}

/** When the pace lets the next mail go; undefined when that is now. */
function* paced(now: Millis, perHour: number): Operation<Millis | undefined> {
  if (perHour === Infinity) return undefined
  const [{ rows }] = yield* ask([sql.paced, now - hour, now, perHour - 1])
  return rows[0] && Number(rows[0]['at']) + hour + 1
}

const kindOf = (kind: unknown) => kind as MessageKind

const toMessage = rowReader({
  ...{ number: Number, id: String, kind: kindOf, email: String, language: String },
  ...{ body: String, madeAt: Number, tries: Number },
})

function* described({ id, secret }: Site, rows: readonly Row[]): Operation<readonly Message[]> {
  const asking = rows.filter(({ kind }) => kind === 'confirm')
  const found = yield asking.map(({ email }): Step => {
    return [sql.listed, id, String(email), addressHash(secret, String(email))]
  })
  const listed = new Set(asking.filter((_, index) => found[index]?.rows[0]))
  return rows.map((row) => ({ ...toMessage(row), isListed: listed.has(row) }))
}

/** The name of the fact that has how the last message of a kind fared. */
function fareFact(kind: MessageKind): string {
  return `last ${kind}`
}

type Fare = { sentAt?: Millis } & Partial<Pick<OutboxFigures, 'failed'>>

function fareIn(fact: string | undefined): Fare {
  return fact === undefined ? {} : (JSON.parse(fact) as Fare)
}

function* settling(
  { id, policy, noteErased }: Site,
  number: number,
  outcome: MessageOutcome,
): Operation<void> {
  const [found] = yield* ask([sql.find, number])
  const [row] = found.rows
  if (!row) return
  const [kind, tries] = [kindOf(row['kind']), Number(row['tries']) + 1]
  if (outcome.kind === 'untried') {
    yield* ask([sql.again, number, outcome.nextAt, 0])
    if (tries === 1) yield* ask([sql.uncount, number])
    return
  }
  const { at } = outcome
  let fare: Fare = { sentAt: at }
  if (outcome.kind !== 'sent') {
    const failed = { at, tries, reason: outcome.reason, isFinal: outcome.kind === 'failed' }
    fare = { ...fareIn(yield* factOf(id, fareFact(kind))), failed }
  }
  const note = setFact(id, fareFact(kind), JSON.stringify(fare))
  if (outcome.kind === 'later') {
    yield* ask([sql.again, number, outcome.nextAt, 1], note)
    return
  }
  // The limits count from when it was handed over.
  yield* ask(
    [sql.end, number, messageStage[outcome.kind], at],
    ...noteErased(),
    [sql.handedOver, number, at],
    note,
  )
  if (kind === 'confirm') {
    yield* ask([sql.open, id, String(row['person']), at + waitMsOf(policy), at])
  }
}

/** As `Outbox.figures`. */
export async function figuresOf(
  site: Pick<Site, 'db' | 'id'>,
  kinds: readonly MessageKind[],
): Promise<OutboxFigures> {
  const [waiting] = await site.db.query([sql.waiting, site.id, ...rangeOf(kinds)])
  const facts = await Promise.all(kinds.map((kind) => readFact(site, fareFact(kind))))
  const fares = facts.map(fareIn)
  const failures = fares.flatMap(({ failed }) => failed ?? [])
  return {
    ...toWaiting(rowOf(waiting)),
    lastSent: Math.max(...fares.map(({ sentAt = 0 }) => sentAt)) || undefined,
    failed: failures.toSorted((one, other) => other.at - one.at)[0],
  }
}

const toWaiting = rowReader({ waiting: Number, oldest: numberOf })
