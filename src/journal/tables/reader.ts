import { timeOfId } from '../../signup/id.ts'
import type { Millis } from '../../signup/signup.ts'
import type { Signal } from '../../signup/suspicion.ts'
import { hourMs, hourOf, type Reader } from '../contracts/reader.ts'
import {
  type Answer,
  type Database,
  numberOf,
  type Row,
  rowOf,
  rowReader,
  statementsOf,
} from '../sql.ts'
import { sharesOf } from './day-counts.ts'
import { type ReadSite, readFact, setFact } from './facts.ts'
import { allHours, besideState } from './layout.ts'
import { pendingColumns } from './pending.ts'
import { figuresOf } from './outbox.ts'
import { heldAfter } from './quarantine.ts'
import { addressSlice, recentOf } from './recent.ts'
import { idOf, recordColumns, toRecord } from './rows.ts'
import { heldMark, isHeldKey } from './tabs.ts'
import { webhookFigures } from './webhooks.ts'

/** How many suspect signups and blocked addresses are counted: more are told as so many. */
const countedMax = 20_000
/** How many that have left quarantine are counted. That takes SQLite seven milliseconds. */
const goneMax = 100_000

/** Sums of a table, each for so many hours. */
const inHours = (table: string, sums: string) =>
  `SELECT hour / CAST($4 AS integer) AS step, ${sums} FROM ${table}
   WHERE site = $1 AND hour BETWEEN $2 AND $3 GROUP BY 1`

const sql = statementsOf('reader', ({ behind }) => ({
  sites: 'SELECT id, name FROM site',
  // A tab without progress has nothing in the spreadsheet yet.
  backlogs: `SELECT site.name, coalesce(sum(accepted - coalesce(written, 0)), 0) AS count
             FROM site LEFT JOIN tab ON tab.site = site.id
             LEFT JOIN progress ON progress.tab = tab.id
             GROUP BY site.name ORDER BY site.name`,
  // Nobody has accepted what is held, but it waits for its row like all else.
  totals: `SELECT coalesce(sum(accepted) FILTER (WHERE NOT ${isHeldKey('tab.key')}), 0) AS accepted,
             coalesce(sum(written) FILTER (WHERE NOT ${isHeldKey('tab.key')}), 0) AS written,
             coalesce(sum(accepted - coalesce(written, 0)), 0) AS waiting,
             (SELECT last_settled_at FROM site WHERE id = $1) AS "lastSettled",
             (SELECT coalesce(sum(count), 0) FROM hour_suspect
              WHERE site = $1 AND hour = ${allHours}) AS suspects
           FROM tab LEFT JOIN progress ON progress.tab = tab.id WHERE site = $1`,
  hours: `SELECT step * CAST($4 AS integer) AS hour, sum(accepted) AS accepted, sum(written) AS written,
            sum(asked) AS asked, sum(confirmed) AS confirmed, sum(suspect) AS suspect, sum(erased) AS erased FROM (
            ${inHours('hour_accepted', 'sum(count) AS accepted, 0 AS written, 0 AS asked, 0 AS confirmed, 0 AS suspect, 0 AS erased')}
            UNION ALL ${inHours('hour_written', '0, sum(count), 0, 0, 0, 0')}
            UNION ALL ${inHours('hour_pending', '0, 0, sum(asked), sum(confirmed), 0, 0')}
            UNION ALL ${inHours('hour_suspect', '0, 0, 0, 0, sum(count), 0')}
            UNION ALL ${inHours('hour_erased', '0, 0, 0, 0, 0, sum(count)')}
          ) AS counts GROUP BY step ORDER BY step`,
  suspects: `SELECT hour, signals, count FROM hour_suspect
             WHERE site = $1 AND hour BETWEEN $2 AND $3 ORDER BY hour, signals`,
  // The first waiting signup of each tab, and since when its first one waits to be delivered once more.
  firstWaiting: `SELECT tab.key, (
                   SELECT signup.id FROM signup WHERE ${behind('tab.id', 'coalesce(written_to, 0)')}
                   ORDER BY signup.tab, signup.position LIMIT 1
                 ) AS id, (
                   SELECT queued_at FROM redelivery WHERE redelivery.tab = tab.id
                   ORDER BY redelivery.position LIMIT 1
                 ) AS "queuedAt"
                 FROM tab LEFT JOIN progress ON progress.tab = tab.id WHERE tab.site = $1`,
  callsSince: 'SELECT count(*) AS count FROM provider_call WHERE account = $1 AND at > $2',
  // CROSS JOIN keeps the order of the tables, so SQLite reads by position and not by tab.
  page: `SELECT ${recordColumns} FROM signup CROSS JOIN tab
         WHERE signup.position > $1 AND tab.id = signup.tab AND tab.site = $2 AND signup.email <> ''
           AND NOT EXISTS (SELECT 1 FROM removal WHERE removal.position = signup.position)
         ORDER BY signup.position LIMIT $3`,
  pending: `SELECT ${pendingColumns} FROM pending
        WHERE site + 0 = $1 AND number > $2 AND email <> '' AND state = ${besideState.pending} ORDER BY number LIMIT $3`,
  // SQLite would count what is gone twice, if it were not materialized.
  beside: `WITH holding AS MATERIALIZED (SELECT accepted, (SELECT count(*) FROM (SELECT 1 FROM signup
                WHERE signup.tab = tab.id AND email = '' LIMIT ${goneMax}) AS erased) AS gone
              FROM tab WHERE site = $1 AND ${isHeldKey('tab.key')})
            SELECT coalesce(max(asked - closed), 0) AS pending,
              (SELECT count(*) FROM (SELECT 1 FROM pending WHERE site = $1 AND signals <> ''
                LIMIT ${countedMax}) AS held) AS suspect,
              (SELECT count(*) FROM (SELECT 1 FROM block WHERE site = $1
                LIMIT ${countedMax}) AS blocks) AS blocked,
              (SELECT sum(accepted - gone) FROM holding WHERE gone < ${goneMax}) AS held
            FROM hour_pending WHERE site = $1 AND hour = ${allHours}`,
}))

/** What a journal has of one site, for reading. */
export function readerOf(site: ReadSite): Reader {
  const { db, id } = site
  return {
    backlog: async () => {
      const [totals] = await db.query([sql.totals, id])
      return Number(rowOf(totals)['waiting'])
    },
    waitingSince: async (asideTabs) => {
      const [first, totals] = await db.query([sql.firstWaiting, id], [sql.totals, id])
      const since = firstWaiting(first, asideTabs)
      if (since === undefined) return undefined
      return Math.max(since, Number(rowOf(totals)['lastSettled']))
    },
    figures: async (from, to) => {
      const [totals, hours, first, suspects] = await db.query(
        [sql.totals, id],
        [sql.hours, id, hourOf(from), hourOf(to), 1],
        [sql.firstWaiting, id],
        [sql.suspects, id, hourOf(from), hourOf(to)],
      )
      return {
        all: countsOf(rowOf(totals)),
        waiting: Number(rowOf(totals)['waiting']),
        hours: hours.rows.map(toHour),
        allSuspects: Number(rowOf(totals)['suspects']),
        suspects: suspects.rows.map((row) => ({
          from: Number(row['hour']) * hourMs,
          signals: String(row['signals']).split(',') as Signal[],
          count: Number(row['count']),
        })),
        oldestWaiting: firstWaiting(first),
        lastWritten: Number(rowOf(totals)['lastSettled']) || undefined,
      }
    },
    hours: async (from, to, each) => {
      const [{ rows }] = await db.query([sql.hours, id, hourOf(from), hourOf(to), each])
      return rows.map(toHour)
    },
    callsSince: async (account, after) => {
      const [calls] = await db.query([sql.callsSince, account, after])
      return Number(rowOf(calls)['count'])
    },
    fact: (name) => readFact(site, name),
    page: async (after, max) => {
      const [{ rows }] = await db.query([sql.page, after, id, max])
      return rows.map(toRecord)
    },
    held: (after, max) => heldAfter(site, after, max),
    pending: async (after, max) => {
      const [{ rows }] = await db.query([sql.pending, id, after, max])
      return rows.map(toRecord)
    },
    recent: (choice, before) => recentOf(site, choice, before),
    ofAddress: (address, after) => addressSlice(site, address, after),
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
    .filter(({ key }) => !asideTabs.includes(String(key).replace(heldMark, '')))
    // An imported signup may have an old timestamp, but its id has the time when it came.
    .flatMap(({ id, queuedAt }) => [id && timeOfId(idOf(id)), queuedAt])
    .filter((time) => time !== null)
    .map(Number)
  return times.length === 0 ? undefined : Math.min(...times)
}

const toBeside = rowReader({ pending: Number, suspect: Number, held: numberOf, blocked: Number })
const countsOf = rowReader({ accepted: Number, written: Number })
const hourCountsOf = rowReader({
  asked: Number,
  confirmed: Number,
  suspect: Number,
  erased: Number,
})
const toHour = (row: Row) => {
  return { from: Number(row['hour']) * hourMs, ...countsOf(row), ...hourCountsOf(row) }
}
