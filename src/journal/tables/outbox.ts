import { hour } from '../../platform/clock.ts'
import type { Millis } from '../../signup/signup.ts'
import type {
  Claimed,
  ClaimOrder,
  Message,
  MessageKind,
  MessageOutcome,
  Outbox,
  OutboxFigures,
} from '../contracts/outbox.ts'
import { recipientLimits } from '../contracts/outbox.ts'
import { addressHash } from '../hashes.ts'
import {
  ask,
  flagOf,
  givenRows,
  type Lock,
  numberOf,
  type Operation,
  type Row,
  rowOf,
  siteLock,
  statementsOf,
} from '../sql.ts'
import { factOf, readFact, setFact } from './facts.ts'
import { besideState, messageStage } from './layout.ts'
import { askedBackAtOnce, askingBack, ranks, waitMsOf, waitSql } from './mails.ts'
import type { Site } from './site.ts'

const { resting, ready, claimed, sent, failed, dropped } = messageStage

const ranksOf: Readonly<Record<MessageKind, readonly [number, number]>> = {
  confirm: [ranks.confirm, ranks.confirm],
  welcome: [ranks.welcomeAtOnce, ranks.welcome],
  report: [ranks.report, ranks.report],
  notice: [ranks.notice, ranks.notice],
}

/** The oldest report or notice gives way to a new one, so that a receiver that is gone fills no journal. */
const tellingMax = 20
/** No message waits for longer, but after the clock was set back. */
const restMax = 25 * hour
/** At most how many messages are looked at together. */
const claimedAtOnce = 100
/** How often the next ones are looked at when all of them have to rest. */
const passesMax = 5
/** How many figures are counted: more are told as so many. */
const countedMax = 100_000

const columns = `number, id, kind, email, language, body, made_at AS "madeAt", tries`

const sql = statementsOf('outbox', ({ given, lower }) => {
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
    free: `UPDATE message SET stage = ${ready}
           WHERE site = $1 AND stage = ${claimed} AND claimed_by <> $2 AND rank BETWEEN $3 AND $4`,
    first: `SELECT ${columns}, rank, turn, recipient, person,
              EXISTS (SELECT 1 FROM sending WHERE sending.message = number) AS "isCounted"
            FROM message WHERE site = $1 AND stage = ${ready} AND rank BETWEEN $2 AND $3
            ORDER BY rank, turn, number LIMIT ${claimedAtOnce}`,
    wait: `SELECT asked.number, ${waitSql('asked.recipient', '$1', 'asked."isPaused"')} AS at
           FROM ${given('asked', '$2', { number: 'number', recipient: 'text', isPaused: 'flag' })}`,
    paced: 'SELECT at FROM sending WHERE at > $1 AND at <= $2 ORDER BY at DESC LIMIT 1 OFFSET $3',
    rest: `UPDATE message SET stage = ${resting}, next_at = $2
           WHERE number = $1`,
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
    end: `UPDATE message SET stage = $2, ended_at = $3, tries = tries + 1, body = '',
            email = CASE WHEN kind = 'welcome' THEN email ELSE '' END
          WHERE number = $1 AND stage = ${claimed}`,
    // All of it can be confirmed by this mail from now on.
    open: `UPDATE pending SET expires_at = $3, kept_until = $3
           WHERE site = $1 AND person = $2 AND state = ${besideState.pending} AND signals = ''`,
    waiting: `SELECT count(*) AS count, min(CASE WHEN stage = ${ready} THEN made_at END) AS oldest
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
        [siteLock(id)],
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

/** Makes the mails that pending signups want, so that all of them can take their turns. */
async function askBack({ db, ...site }: Site, now: Millis): Promise<void> {
  for (let decided = askedBackAtOnce; decided === askedBackAtOnce;) {
    decided = await db.transact([siteLock(site.id)], () => askingBack(site, now))
    // An engine may answer without a turn of the event loop.
    await new Promise((resolve) => setImmediate(resolve))
  }
}

/** The ranks of these kinds, which stand side by side. */
function rangeOf(kinds: readonly MessageKind[]): readonly [number, number] {
  const all = kinds.flatMap((kind) => ranksOf[kind])
  return [Math.min(...all), Math.max(...all)]
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
  let pacedUntil: Millis | undefined
  for (let passes = 0, more = true; more && passes < passesMax && messages.length < max; passes++) {
    const [{ rows }] = yield* ask([sql.first, id, from, to])
    const taken = new Set<unknown>(messages.map(({ recipient }) => recipient).filter(Boolean))
    const waits = yield* waitsOf(id, rows)
    more = false
    for (const row of rows.slice(0, max - messages.length)) {
      const [number, recipient] = [Number(row['number']), String(row['recipient'])]
      if (oldest !== undefined && number !== Number(oldest)) continue
      const at = flagOf(row['isCounted']) ? 0 : (waits.get(number) ?? 0)
      if (at > now) {
        yield* ask([sql.rest, number, at])
        more = true
        continue
      }
      if (recipient !== '' && taken.has(recipient)) continue
      if (recipient !== '' && !flagOf(row['isCounted'])) {
        pacedUntil = yield* paced(now, perHour)
        if (pacedUntil !== undefined) break
        yield* ask([sql.count, number, id, recipient, now], [sql.turn, Number(row['turn'])])
      }
      yield* ask([sql.claim, number, by])
      taken.add(recipient)
      messages.push(row)
    }
    if (pacedUntil !== undefined) break
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

/** When the limits of its mailbox let each of these messages go. */
function* waitsOf(site: number, rows: readonly Row[]): Operation<ReadonlyMap<number, Millis>> {
  const asked = rows.flatMap(({ number, recipient, rank }) =>
    recipient === ''
      ? []
      : [
          {
            number: Number(number),
            recipient: String(recipient),
            isPaused: Number(rank) !== ranks.welcomeAtOnce,
          },
        ],
  )
  if (asked.length === 0) return new Map()
  const [answer] = yield* ask([sql.wait, site, givenRows(asked)])
  return new Map(answer.rows.map(({ number, at }) => [Number(number), Number(at)]))
}

/** When the pace lets the next mail go; undefined when that is now. */
function* paced(now: Millis, perHour: number): Operation<Millis | undefined> {
  if (perHour === Infinity) return undefined
  const [{ rows }] = yield* ask([sql.paced, now - hour, now, perHour - 1])
  return rows[0] && Number(rows[0]['at']) + hour + 1
}

function* described(site: Site, rows: readonly Row[]): Operation<readonly Message[]> {
  const messages: Message[] = []
  for (const row of rows) {
    const kind = row['kind'] as MessageKind
    const email = String(row['email'])
    const listed =
      kind === 'confirm'
        ? yield* ask([sql.listed, site.id, email, addressHash(site.secret, email)])
        : undefined
    messages.push({
      number: Number(row['number']),
      id: String(row['id']),
      kind,
      email,
      language: String(row['language']),
      body: String(row['body']),
      madeAt: Number(row['madeAt']),
      tries: Number(row['tries']),
      isListed: (listed?.[0].rows.length ?? 0) > 0,
    })
  }
  return messages
}

/** The name of the fact that has how the last message of a kind fared. */
function fareFact(kind: MessageKind): string {
  return `last ${kind}`
}

interface Fare {
  readonly sentAt?: Millis
  readonly failed?: NonNullable<OutboxFigures['failed']>
}

function* settling(
  { id, policy, noteErased }: Site,
  number: number,
  outcome: MessageOutcome,
): Operation<void> {
  const [{ rows }] = yield* ask([sql.find, number])
  const [row] = rows
  if (!row) return
  const kind = row['kind'] as MessageKind
  const tries = Number(row['tries'])
  const note = (fare: Fare) => setFact(id, fareFact(kind), JSON.stringify(fare))
  if (outcome.kind === 'untried') {
    yield* ask([sql.again, number, outcome.nextAt, 0])
    if (tries === 0) yield* ask([sql.uncount, number])
    return
  }
  const sentAt = lastSent(yield* factOf(id, fareFact(kind)))
  if (outcome.kind === 'later') {
    const { at, nextAt, reason } = outcome
    const failure = { at, tries: tries + 1, reason, isFinal: false }
    yield* ask(
      [sql.again, number, nextAt, 1],
      note({ ...(sentAt !== undefined && { sentAt }), failed: failure }),
    )
    return
  }
  const { at } = outcome
  const isSent = outcome.kind === 'sent'
  const fare = isSent
    ? { sentAt: at }
    : {
        ...(sentAt !== undefined && { sentAt }),
        failed: { at, tries: tries + 1, reason: outcome.reason, isFinal: true },
      }
  yield* ask([sql.end, number, isSent ? sent : failed, at], ...noteErased(), note(fare))
  if (kind !== 'confirm') return
  yield* ask([sql.open, id, String(row['person']), at + waitMsOf(policy)])
}

function lastSent(fact: string | undefined): Millis | undefined {
  return fact === undefined ? undefined : (JSON.parse(fact) as Fare).sentAt
}

async function figuresOf(site: Site, kinds: readonly MessageKind[]): Promise<OutboxFigures> {
  const [{ rows }] = await site.db.query([sql.waiting, site.id, ...rangeOf(kinds)])
  const { count, oldest } = rowOf({ rows })
  const facts = await Promise.all(kinds.map((kind) => readFact(site, fareFact(kind))))
  const fares = facts.flatMap((fact) => (fact === undefined ? [] : [JSON.parse(fact) as Fare]))
  const sentAt = Math.max(...fares.map((fare) => fare.sentAt ?? 0), 0)
  const [last] = fares
    .flatMap((fare) => fare.failed ?? [])
    .toSorted((one, other) => other.at - one.at)
  return {
    waiting: Number(count),
    oldest: numberOf(oldest),
    lastSent: sentAt || undefined,
    failed: last,
  }
}
