import type { Millis } from '../../../signup/signup.ts'
import type { MessageKind, MessageOutcome, Outbox, OutboxFigures } from '../../contracts/outbox.ts'
import {
  ask,
  messageLock,
  numberOf,
  type Operation,
  rowReader,
  siteLock,
  statementsOf,
} from '../../sql.ts'
import { claim, kindOf, rangeOf } from './claim.ts'
import { factOf, readFact, setFact } from '../facts.ts'
import { besideState, messageStage } from '../layout.ts'
import { stepToOpen } from '../pending/ending.ts'
import { ranks } from './mails.ts'
import type { Site } from '../site.ts'
import { stepToCount } from '../tally.ts'

const { resting, ready, claimed, dropped } = messageStage

/** The oldest report gives way to a new one, so that a mail server that is gone fills no journal. */
const tellingMax = 20
/** How many are counted: more are told as so many. That takes SQLite some milliseconds. */
const countedMax = 10_000

const sql = statementsOf('outbox', {
  add: `INSERT INTO message (number, id, site, kind, rank, turn, person, recipient, email, language,
          share, body, made_at, stage, next_at)
        SELECT (SELECT coalesce(max(number), 0) FROM message) + 1, $2, $1, $3, $4, 0, '', '', '', '',
          '', $5, $6, ${resting}, $6
        WHERE true ON CONFLICT (id) DO NOTHING`,
  dropOld: `UPDATE message SET stage = ${dropped}, body = '', ended_at = $3
            WHERE number IN (SELECT number FROM message
              WHERE site = $1 AND person = '' AND kind = $2 AND stage < ${claimed}
              ORDER BY number DESC LIMIT 1000 OFFSET ${tellingMax})`,
  isClaimed: `SELECT 1 FROM message LEFT JOIN pending ON pending.number = message.pending
              WHERE message.number = $1 AND stage = ${claimed} AND claimed_by = $2
                AND (message.pending = 0 OR pending.state = ${besideState.pending})`,
  find: `SELECT kind, pending, tries FROM message WHERE number = $1 AND stage = ${claimed}`,
  again: `UPDATE message SET stage = ${resting}, next_at = $2, tries = tries + $3
          WHERE number = $1 AND stage = ${claimed}`,
  uncount: 'DELETE FROM sending WHERE message = $1',
  end: `UPDATE message SET stage = $2, ended_at = $3, tries = tries + 1, body = '',
          email = CASE WHEN kind = 'welcome' THEN email ELSE '' END
        WHERE number = $1 AND stage = ${claimed}`,
  handedOver: 'UPDATE sending SET at = $2 WHERE message = $1',
})

const figures = statementsOf('outbox figures', ({ given }) => {
  const of = (stage: number) => `SELECT made_at FROM message
    WHERE site = asked.site AND stage = ${stage} AND rank BETWEEN asked.first AND asked.last`
  const due = `${of(ready)} UNION ALL SELECT received_at FROM pending
    WHERE site = asked.site AND mail_wanted AND asked.first = ${ranks.confirm}`
  const among = (what: string, rows: string) =>
    `(SELECT ${what} FROM (${rows} LIMIT ${countedMax}) AS counted)`
  return {
    waiting: `SELECT asked.no, ${among('min(made_at)', due)} AS oldest,
                ${among('count(*)', `${due} UNION ALL ${of(resting)} UNION ALL ${of(claimed)}`)} AS waiting,
                ${among('count(*)', `${of(resting)} AND tries = 0`)} AS resting
              FROM ${given('asked', '$1', { no: 'integer', site: 'integer', first: 'integer', last: 'integer' })}`,
  }
})

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
    claim: (order) => claim(site, order),
    isClaimed: async (number, by) => {
      const [{ rows }] = await db.query([sql.isClaimed, number, by])
      return rows.length > 0
    },
    settle: async (number, outcome) => {
      await db.transact([siteLock(id)], () => settlingMessage(site, number, outcome))
    },
    figures: (kinds) => figuresOf(site, kinds),
  }
}

/** The name of the fact that has how the last message of a kind fared. */
function fareFact(kind: MessageKind): string {
  return `last ${kind}`
}

type Fare = { sentAt?: Millis } & Partial<Pick<OutboxFigures, 'failed'>>

function fareIn(fact: string | undefined): Fare {
  return fact === undefined ? {} : (JSON.parse(fact) as Fare)
}

function* settlingMessage(
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
    const failed = outcome.kind !== 'dropped' && {
      ...{ at, tries, reason: outcome.reason, isFinal: outcome.kind === 'failed' },
    }
    fare = { ...fareIn(yield* factOf(id, fareFact(kind))), ...(failed && { failed }) }
  }
  const note = setFact(id, fareFact(kind), JSON.stringify(fare))
  if (outcome.kind === 'later') {
    yield* ask([sql.again, number, outcome.nextAt, 1], note)
    return
  }
  yield [
    [sql.end, number, messageStage[outcome.kind], at],
    ...noteErased(),
    // The limits count from when it was handed over.
    [sql.handedOver, number, at],
    note,
    ...(kind === 'confirm' ? [stepToOpen(Number(row['pending']), policy, at)] : []),
    ...(kind === 'confirm' && outcome.kind === 'sent' ? [stepToCount(id, 'asked', at)] : []),
  ]
}

/** As `Outbox.figures`. */
export async function figuresOf(
  site: Pick<Site, 'db' | 'id'>,
  kinds: readonly MessageKind[],
): Promise<OutboxFigures> {
  const [first, last] = rangeOf(kinds)
  const [waiting = {}] = await site.db.queryTogether(figures.waiting, {
    site: site.id,
    first,
    last,
  })
  const facts = await Promise.all(kinds.map((kind) => readFact(site, fareFact(kind))))
  const fares = facts.map(fareIn)
  const failures = fares.flatMap(({ failed }) => failed ?? [])
  return {
    ...toWaiting(waiting),
    lastSent: Math.max(...fares.map(({ sentAt = 0 }) => sentAt)) || undefined,
    failed: failures.toSorted((one, other) => other.at - one.at)[0],
  }
}

const toWaiting = rowReader({ waiting: Number, resting: Number, oldest: numberOf })
