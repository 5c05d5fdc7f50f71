import { tabKey } from '../../signup/signup.ts'
import {
  type RecentChoice,
  recentMax,
  type RecentPage,
  type RecentSignup,
} from '../contracts/reader.ts'
import {
  flagOf,
  givenPositions,
  numberOf,
  type Row,
  rowReader,
  statementsOf,
  type Step,
} from '../sql.ts'
import type { ReadSite } from './facts.ts'
import { settledAt } from './intake.ts'
import { besideState, rowStatus } from './layout.ts'
import { endsAt, pendingColumns } from './pending/pending.ts'
import { findLast, heldColumns, positionIn, toRecord } from './rows.ts'

/** How many positions of a tab or of a beginning a page looks at, and how many in all. */
const ofTabMax = 60
const readAtOnce = 1_000
/** Among how many an address is looked for by its beginning. */
const latestMax = 10_000

const sql = statementsOf('recent', ({ given, between, signupAt, lower }) => {
  const asked = given('asked', '$2', { position: 'number' })
  const begins = `substr(${lower('email')}, 1, length(CAST($3 AS text))) = $3`
  return {
    lastBeside: 'SELECT coalesce(max(number), 0) AS position FROM pending',
    begins: `SELECT position FROM signup WHERE position > $1 AND position <= $2 AND ${begins}
             ORDER BY position DESC LIMIT ${ofTabMax}`,
    beginsBeside: `SELECT number AS position FROM pending WHERE number > $1 AND number <= $2 AND ${begins}
                   ORDER BY number DESC LIMIT ${ofTabMax}`,
    tabs: `SELECT tab.id, key, name, coalesce(written_to, 0) AS "writtenTo", coalesce((
             SELECT position FROM signup WHERE ${between('tab.id', '0', '$2')}
             ORDER BY signup.tab DESC, signup.position DESC LIMIT 1), 0) AS latest
           FROM tab LEFT JOIN progress ON progress.tab = tab.id WHERE site = $1 ORDER BY key`,
    // The next ones only read indexes, backwards.
    ofTab: `SELECT position FROM signup WHERE ${between('$1', '$2', '$3')}
            ORDER BY signup.tab DESC, signup.position DESC LIMIT ${ofTabMax}`,
    again: `SELECT position FROM redelivery WHERE tab = $1 AND position <= $2
            ORDER BY tab DESC, position DESC LIMIT ${ofTabMax}`,
    held: `SELECT position FROM held WHERE site = $1 AND position <= $2
           ORDER BY site DESC, position DESC LIMIT ${readAtOnce}`,
    pending: `SELECT number AS position FROM pending WHERE number <= $1 ORDER BY number DESC
              LIMIT ${readAtOnce}`,
    heldBeside: `SELECT number AS position FROM pending WHERE site = $1 AND signals <> '' AND number <= $2
           ORDER BY site DESC, number DESC LIMIT ${readAtOnce}`,
    records: `SELECT ${heldColumns}, row_status AS "rowStatus", ${settledAt},
                signup.position <= coalesce(written_to, 0) AND NOT EXISTS (
                  SELECT 1 FROM redelivery
                  WHERE redelivery.tab = signup.tab AND redelivery.position = signup.position
                ) AS "isWritten"
              FROM (
                SELECT asked.position FROM ${asked} ${signupAt('asked.position')} CROSS JOIN tab
                WHERE tab.id = signup.tab AND tab.site = $1 AND signup.email <> '' AND NOT EXISTS (
                  SELECT 1 FROM removal WHERE removal.position = signup.position)
                ORDER BY asked.position DESC LIMIT ${recentMax}
              ) AS shown ${signupAt('shown.position')} CROSS JOIN tab
              LEFT JOIN progress ON progress.tab = tab.id
              LEFT JOIN held ON held.site = tab.site AND held.position = shown.position
              WHERE tab.id = signup.tab ORDER BY shown.position DESC`,
    beside: `SELECT ${pendingColumns}, ${endsAt} AS until
             FROM ${asked} CROSS JOIN pending
             WHERE pending.number = asked.position AND site = $1 AND email <> ''
               AND state = ${besideState.pending} AND (signals = '' OR $3)
             ORDER BY number DESC LIMIT ${recentMax}`,
  }
})

const toTab = rowReader({
  ...{ id: Number, key: String, name: String, writtenTo: Number },
  /** Of the positions that are asked for. */
  latest: Number,
})
type TabProgress = ReturnType<typeof toTab>

/** Where to look, the newest first, and the cursor of older ones. */
interface Places {
  readonly positions: readonly number[]
  readonly next: number | undefined
}

/** As `Reader.recent`. */
export async function recentOf(
  site: ReadSite,
  choice: RecentChoice,
  before = Number.MAX_SAFE_INTEGER,
): Promise<RecentPage> {
  const [{ rows }] = await site.db.query([sql.tabs, site.id, before - 1])
  const tabs = rows.map(toTab)
  const { positions, next } =
    choice.beginning === undefined
      ? await newest(site, tabs, choice, before - 1)
      : await beginningWith(site, choice, before - 1)
  const found = await recordsAt(site, positions, choice)
  const last = found.length === recentMax ? (found.at(-1)?.position ?? 0) : 0
  return {
    signups: found.filter((one) => isOf(choice, one)),
    next: last > (positions.at(-1) ?? 0) ? last : next,
    tabs: tabs.map(({ name }) => name),
  }
}

/** Each slice takes SQLite a few milliseconds. */
async function beginningWith(
  { db }: ReadSite,
  { beginning = '', isBeside }: RecentChoice,
  upto: number,
): Promise<Places> {
  const all = isBeside ? sql.beginsBeside : sql.begins
  const [head] = await db.query(isBeside ? [sql.lastBeside] : findLast)
  const last = positionIn(head)
  const top = Math.min(last, upto)
  const lowest = Math.max(0, last - latestMax)
  const floor = Math.max(lowest, top - readAtOnce)
  const [{ rows }] = await db.query([all, floor, top, beginning.toLowerCase()])
  const positions = rows.map(({ position }) => Number(position))
  if (rows.length === ofTabMax) return { positions, next: positions.at(-1) }
  return { positions, next: floor > lowest ? floor + 1 : undefined }
}

/** What is looked at for a choice without a beginning. */
async function newest(
  { db, id }: ReadSite,
  tabs: readonly TabProgress[],
  { tab, state, isBeside }: RecentChoice,
  upto: number,
): Promise<Places> {
  const topOf = (it: TabProgress) => Math.min(it.latest, state === 'written' ? it.writtenTo : upto)
  const wanted = tabs
    .filter(({ key }) => tab === undefined || key === tabKey(tab))
    .toSorted((one, other) => topOf(other) - topOf(one))
  const own = listOf()
  const most = own ? readAtOnce : ofTabMax
  const answers = await db.query(...(own ? [own] : stepsOfTabs()))
  const lists = answers.map(({ rows }) => rows.map(({ position }) => Number(position)))
  // Up to the end of a list that was cut, and to the tabs that were not read, something may be missing.
  const cuts = lists.flatMap((list) => (list.length < most ? [] : list.slice(-1)))
  const unread = own ? [] : wanted.slice(recentMax, recentMax + 1)
  const horizon = Math.max(0, ...cuts, ...unread.map((it) => topOf(it) + 1))
  const positions = [...new Set(lists.flat())]
    .filter((position) => position >= horizon)
    .toSorted((one, other) => other - one)
  const isComplete = horizon <= 1 && positions.length <= readAtOnce
  const read = positions.slice(0, readAtOnce)
  return { positions: read, next: isComplete ? undefined : (read.at(-1) ?? 0) }

  /** Those that have a list of their own. */
  function listOf(): Step | undefined {
    if (isBeside) return state === 'held' ? [sql.heldBeside, id, upto] : [sql.pending, upto]
    return state === 'held' ? [sql.held, id, upto] : undefined
  }

  function stepsOfTabs(): readonly Step[] {
    const again = state === 'waiting' ? wanted.map((it): Step => [sql.again, it.id, upto]) : []
    const own = wanted.slice(0, recentMax).map((it): Step => {
      return [sql.ofTab, it.id, state === 'waiting' ? it.writtenTo : 0, topOf(it)]
    })
    return [...own, ...again]
  }
}

/** The first of those of these positions that have their cells, in this order. */
async function recordsAt(
  { db, id }: ReadSite,
  positions: readonly number[],
  { state, isBeside }: RecentChoice = {},
): Promise<readonly RecentSignup[]> {
  const given = givenPositions(positions)
  const [{ rows }] = await db.query(
    isBeside ? [sql.beside, id, given, state !== 'pending'] : [sql.records, id, given],
  )
  return rows.map(isBeside ? toBeside : toRecent)
}

function toBeside(row: Row): RecentSignup {
  const record = toRecord(row)
  const state = record.signup.suspect ? 'held' : 'pending'
  return { ...record, state, until: numberOf(row['until']), writtenAt: undefined }
}

function toRecent(row: Row): RecentSignup {
  const isWritten = flagOf(row['isWritten'])
  const delivered = isWritten ? 'written' : 'waiting'
  const isDuplicate = row['rowStatus'] === rowStatus.none
  const state = row['rowStatus'] === rowStatus.held ? 'held' : isDuplicate ? 'duplicate' : delivered
  return {
    ...toRecord(row),
    state,
    writtenAt: numberOf(isWritten ? row['writtenAt'] : null),
    until: undefined,
  }
}

/** Whether it is of the choice after all: a duplicate is among those that wait or are written. */
function isOf({ tab, state }: RecentChoice, { signup, state: own }: RecentSignup): boolean {
  if (tab !== undefined && tabKey(signup.sheetTab) !== tabKey(tab)) return false
  return own === state || state === undefined || own === 'duplicate'
}

/** As `Reader.at`. */
export async function signupsAt(site: ReadSite, positions: readonly number[]) {
  return (await recordsAt(site, positions)).toReversed()
}
