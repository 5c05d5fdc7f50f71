import { timeOfId } from '../../signup/id.ts'
import type { Millis } from '../../signup/signup.ts'
import type { Figures, Reader, Total } from '../contracts/reader.ts'
import {
  type Answer,
  type Database,
  reading,
  type Row,
  rowOf,
  rowReader,
  statementsOf,
} from '../sql.ts'
import { type ReadSite, readFact, setFact } from './facts.ts'
import { besideState, rowStatus } from './layout.ts'
import { pendingColumns } from './pending/pending.ts'
import { figuresOf } from './mail/outbox.ts'
import { type Findable, findEnding, findPerson } from './people.ts'
import { heldAfter, heldEnding } from './quarantine.ts'
import { recentOf, signupsAt } from './recent.ts'
import { idOf, recordColumns, rowsBehind, toRecord } from './rows.ts'
import { takenSeats } from './seats.ts'
import { sharesOf } from './shares.ts'
import { hourOf, stepToRead, stepToReadAll, toCount } from './tally.ts'
import { webhookFigures } from './webhooks.ts'

/** How many held signups and blocked addresses are counted: more are told as so many. */
const countedMax = 20_000

/** What `Figures.all` is made of. */
const totals = [
  ...(['accepted', 'erased', 'suspect', 'held', 'pending', 'ended', 'asked', 'confirmed'] as const),
]

const sql = statementsOf('reader', ({ behind, given }) => ({
  sites: 'SELECT id, name FROM site',
  // A tab without progress has nothing in the spreadsheet yet.
  backlogs: `SELECT site.name, coalesce(sum(accepted - coalesce(written, 0)), 0) AS count
             FROM site LEFT JOIN tab ON tab.site = site.id
             LEFT JOIN progress ON progress.tab = tab.id
             GROUP BY site.name ORDER BY site.name`,
  // Nobody has accepted what is held, but it waits for its batch like all else.
  delivered: `SELECT coalesce(sum(written - progress.held), 0) AS written,
             coalesce(sum(accepted - coalesce(written, 0)), 0) AS waiting,
             (SELECT last_settled_at FROM site WHERE id = $1) AS "lastSettled"
           FROM tab LEFT JOIN progress ON progress.tab = tab.id WHERE site = $1`,
  waiting: `SELECT asked.no, (SELECT coalesce(sum(accepted - coalesce(written, 0)), 0)
              FROM tab LEFT JOIN progress ON progress.tab = tab.id WHERE site = asked.site) AS waiting
            FROM ${given('asked', '$1', { no: 'integer', site: 'integer' })}`,
  // The first waiting signup of each tab, and since when its first one waits to be delivered once more.
  firstWaiting: `SELECT tab.key, first.id, first.received_at AS "receivedAt",
                   first.confirmed_at AS "confirmedAt", (
                   SELECT queued_at FROM redelivery WHERE redelivery.tab = tab.id
                   ORDER BY redelivery.position LIMIT 1
                 ) AS "queuedAt"
                 FROM tab LEFT JOIN progress ON progress.tab = tab.id
                 LEFT JOIN signup AS first ON first.position = (
                   SELECT signup.position FROM signup WHERE ${behind('tab.id', 'coalesce(written_to, 0)')}
                   ORDER BY signup.tab, signup.position LIMIT 1
                 ) WHERE tab.site = $1`,
  callsSince: 'SELECT count(*) AS count FROM provider_call WHERE account = $1 AND at > $2',
  // CROSS JOIN keeps the order of the tables, so SQLite reads by position and not by tab.
  page: `SELECT ${recordColumns} FROM signup CROSS JOIN tab
         WHERE signup.position > $2 AND signup.position <= $3 AND tab.id = signup.tab AND tab.site = $1
           AND signup.email <> '' AND row_status <> ${rowStatus.held}
           AND NOT EXISTS (SELECT 1 FROM removal WHERE removal.position = signup.position)
         ORDER BY signup.position LIMIT $4`,
  pending: `SELECT ${pendingColumns} FROM pending
        WHERE site + 0 = $1 AND number > $2 AND email <> '' AND state = ${besideState.pending} ORDER BY number LIMIT $3`,
  beside: `SELECT (SELECT count(*) FROM (SELECT 1 FROM pending WHERE site = $1 AND signals <> ''
                LIMIT ${countedMax}) AS held) AS suspect,
              (SELECT count(*) FROM (SELECT 1 FROM block WHERE site = $1
                LIMIT ${countedMax}) AS blocks) AS blocked,
              (SELECT count(*) FROM (SELECT 1 FROM held WHERE site = $1
                LIMIT ${countedMax}) AS listed) AS held`,
}))

/** What a journal has of one site, for reading. */
export function readerOf(site: Findable): Reader {
  const { db, id } = site
  return {
    backlog: () => backlogOf(site),
    waitingSince: async (asideTabs) => {
      if ((await backlogOf(site)) === 0) return undefined
      const [first, delivered] = await db.query([sql.firstWaiting, id], [sql.delivered, id])
      const since = firstWaiting(first, asideTabs)
      if (since === undefined) return undefined
      return Math.max(since, Number(rowOf(delivered)['lastSettled']))
    },
    figures: () => figuresOfSite(site),
    counted: async (what, from, to, each) => {
      const [{ rows }] = await db.query(stepToRead(id, what, [hourOf(from), to], each))
      return rows.map(toCount)
    },
    callsSince: async (account, after) => {
      const [calls] = await db.query([sql.callsSince, account, after])
      return Number(rowOf(calls)['count'])
    },
    fact: (name) => readFact(site, name),
    seatsTaken: () => reading(db, takenSeats(id)),
    page: async (after, max) => {
      const rows = await rowsBehind(db, after, max, (...part) => [sql.page, id, ...part])
      return rows.map(toRecord)
    },
    held: (after, max) => heldAfter(site, after, max),
    heldEnding: (now) => heldEnding(site, now),
    pending: async (after, max) => {
      const [{ rows }] = await db.query([sql.pending, id, after, max])
      return rows.map(toRecord)
    },
    recent: (choice, before) => recentOf(site, choice, before),
    positionsOf: (address, after) => reading(db, findPerson(site, address, after)),
    positionsEnding: (idEnd, after) => reading(db, findEnding(id, idEnd, after)),
    at: (positions) => signupsAt(site, positions),
    shares: (from, to) => sharesOf(site, from, to),
    beside: async () => {
      const [figures] = await db.query([sql.beside, id])
      return toBeside(rowOf(figures))
    },
    mails: () => figuresOf(site, ['confirm', 'welcome', 'report']),
    webhooks: (endpoint) => webhookFigures(site, endpoint),
    probe: async () => {
      // A new value each time, as an engine may not write an unchanged page.
      await db.change([], setFact(id, 'probed', crypto.randomUUID()))
    },
  }
}

/** As `Reader.figures`. */
async function figuresOfSite({ db, id }: ReadSite): Promise<Figures> {
  const [delivered, first, counts] = await db.query(
    [sql.delivered, id],
    [sql.firstWaiting, id],
    stepToReadAll(id, totals),
  )
  const { written, waiting, lastSettled } = toDelivered(rowOf(delivered))
  const sums = Object.fromEntries([...totals, 'written'].map((what) => [what, 0]))
  for (const { what, count } of counts.rows.map(toCount)) sums[what] = (sums[what] ?? 0) + count
  const { ended = 0, pending = 0, ...all } = sums
  return {
    all: { ...all, written, pending: pending - ended } as Readonly<Record<Total, number>>,
    waiting,
    oldestWaiting: firstWaiting(first),
    lastWritten: lastSettled || undefined,
  }
}

/** As `Reader.backlog`. The sites of an instance ask together. */
async function backlogOf({ db, id }: ReadSite): Promise<number> {
  const [row] = await db.queryTogether(sql.waiting, { site: id })
  return Number(row?.['waiting'] ?? 0)
}

/** How many signups wait for delivery, by the name of the site. */
export async function backlogsIn(db: Database): Promise<ReadonlyMap<string, number>> {
  const [{ rows }] = await db.query([sql.backlogs])
  return new Map(rows.map(({ name, count }) => [String(name), Number(count)]))
}

/** The ids of all sites, by name. */
export async function siteIds(db: Database): Promise<ReadonlyMap<string, number>> {
  const [{ rows }] = await db.query([sql.sites])
  return new Map(rows.map(({ id, name }) => [String(name), Number(id)]))
}

/** Readers of all sites of the journal by name, and of those with these names, which it may not have. */
export async function readersIn(
  db: Database,
  names: readonly string[],
): Promise<ReadonlyMap<string, Reader>> {
  const ids = await siteIds(db)
  // No site has the id 0.
  const readers = [...names, ...ids.keys()].map((name) => {
    return [name, readerOf({ db, id: ids.get(name) ?? 0 })] as const
  })
  return new Map(readers)
}

/** When the oldest waiting signup came into the journal. */
function firstWaiting({ rows }: Answer, asideTabs: readonly string[] = []): Millis | undefined {
  const times = rows
    .filter(({ key }) => !asideTabs.includes(String(key)))
    .flatMap((row) => [row['id'] === null ? null : cameAt(row), row['queuedAt']])
    .filter((time) => time !== null)
    .map(Number)
  return times.length === 0 ? undefined : Math.min(...times)
}

/** When a signup came into the journal. Of an imported one with an older time, only its id tells that. */
function cameAt({ id, receivedAt, confirmedAt }: Row): Millis {
  if (confirmedAt !== null) return Number(confirmedAt)
  return Math.max(Number(receivedAt), timeOfId(idOf(id)))
}

const toDelivered = rowReader({ written: Number, waiting: Number, lastSettled: Number })
const toBeside = rowReader({ suspect: Number, held: Number, blocked: Number })
