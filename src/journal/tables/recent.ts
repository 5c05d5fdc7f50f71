import { tabKey } from '../../signup/signup.ts'
import {
  type AddressSlice,
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
  rowOf,
  rowReader,
  statementsOf,
  type Step,
} from '../sql.ts'
import { unresolvedKey } from './default-tab.ts'
import { stepToFindAddress } from './erasure.ts'
import type { ReadSite } from './facts.ts'
import { settledAt } from './intake.ts'
import { besideState, rowStatus } from './layout.ts'
import { pendingColumns } from './pending.ts'
import { besideBase } from './quarantine.ts'
import { recordColumns, toRecord } from './rows.ts'
import { heldMark } from './tabs.ts'

/** How many positions of a tab a page looks at, and how many in all. */
const ofTabMax = 60
const readAtOnce = 1_000
/** How many positions a slice reads for an address. That takes SQLite two milliseconds. */
const slicePositions = 4_000

const sql = statementsOf('recent', ({ given, between, signupAt, lastPosition }) => {
  const asked = given('asked', '$2', { position: 'number' })
  return {
    last: `SELECT ${lastPosition} AS position`,
    tabs: `SELECT tab.id, key, name, coalesce(written_to, 0) AS "writtenTo", coalesce((
             SELECT position FROM signup WHERE ${between('tab.id', '0', '$2')}
             ORDER BY signup.tab DESC, signup.position DESC LIMIT 1), 0) AS latest
           FROM tab LEFT JOIN progress ON progress.tab = tab.id WHERE site = $1 ORDER BY key`,
    // The next ones only read indexes, backwards.
    ofTab: `SELECT position FROM signup WHERE ${between('$1', '$2', '$3')}
            ORDER BY signup.tab DESC, signup.position DESC LIMIT ${ofTabMax}`,
    again: `SELECT position FROM redelivery WHERE tab = $1 AND position <= $2
            ORDER BY tab DESC, position DESC LIMIT ${ofTabMax}`,
    suspects: `SELECT position FROM suspect WHERE position <= $1 ORDER BY position DESC
               LIMIT ${readAtOnce}`,
    pending: `SELECT number AS position FROM pending WHERE number <= $1 ORDER BY number DESC
              LIMIT ${readAtOnce}`,
    held: `SELECT number AS position FROM pending WHERE site = $1 AND signals <> '' AND number <= $2
           ORDER BY site DESC, number DESC LIMIT ${readAtOnce}`,
    records: `SELECT ${recordColumns}, row_status AS "rowStatus", ${settledAt},
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
              WHERE tab.id = signup.tab ORDER BY shown.position DESC`,
    beside: `SELECT ${pendingColumns}, kept_until AS until
             FROM ${asked} CROSS JOIN pending
             WHERE pending.number = asked.position AND site = $1 AND email <> '' AND state = ${besideState.pending}
             ORDER BY number DESC LIMIT ${recentMax}`,
  }
})

const toTab = rowReader({
  ...{ id: Number, key: String, name: String, writtenTo: Number },
  /** Of the positions that are asked for. */
  latest: Number,
})
type TabProgress = ReturnType<typeof toTab>

/** As `Reader.recent`. */
export async function recentOf(
  site: ReadSite,
  choice: RecentChoice,
  before = Number.MAX_SAFE_INTEGER,
): Promise<RecentPage> {
  const [{ rows }] = await site.db.query([sql.tabs, site.id, before - 1])
  const tabs = rows.map(toTab)
  const { positions, isComplete } = await newest(site, tabs, choice, before - 1)
  const found = await recordsAt(site, positions)
  const end = positions.at(-1) ?? 0
  const reached = found.length === recentMax ? (found.at(-1)?.position ?? end) : end
  const named = tabs.filter(({ key }) => key !== unresolvedKey && !key.startsWith(heldMark))
  return {
    signups: found.filter((one) => isOf(choice, one)),
    next: reached > end || !isComplete ? reached : undefined,
    tabs: named.map(({ name }) => name),
  }
}

/** The positions to look at, the newest first, and whether there are no others. */
async function newest(
  { db, id }: ReadSite,
  tabs: readonly TabProgress[],
  { tab, state }: RecentChoice,
  upto: number,
) {
  const topOf = (it: TabProgress) => Math.min(it.latest, state === 'written' ? it.writtenTo : upto)
  const wanted = tabs
    .filter(({ key }) =>
      tab === undefined ? !state || !key.startsWith(heldMark) : key === tabKey(tab),
    )
    .toSorted((one, other) => topOf(other) - topOf(one))
  const isBeside = state === 'pending' || state === 'quarantine'
  const most = isBeside ? readAtOnce : ofTabMax
  const answers = await db.query(...stepsOf())
  const lists = answers.map(({ rows }, at) =>
    rows.map(({ position }) => Number(position) + (isBeside && at === 0 ? besideBase : 0)),
  )
  // Up to the end of a list that was cut, and to the tabs that were not read, something may be missing.
  const cuts = lists.flatMap((list) => (list.length < most ? [] : list.slice(-1)))
  const unread = isBeside ? [] : wanted.slice(recentMax, recentMax + 1)
  const horizon = Math.max(0, ...cuts, ...unread.map((it) => topOf(it) + 1))
  const positions = [...new Set(lists.flat())]
    .filter((position) => position >= horizon)
    .toSorted((one, other) => other - one)
  const isComplete = horizon <= 1 && positions.length <= readAtOnce
  return { positions: positions.slice(0, readAtOnce), isComplete }

  function stepsOf(): readonly Step[] {
    const besideTo = upto - besideBase
    if (state === 'pending') return [[sql.pending, besideTo]]
    if (state === 'quarantine')
      return [
        [sql.held, id, besideTo],
        [sql.suspects, upto],
      ]
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
): Promise<readonly RecentSignup[]> {
  const numbers = positions.filter((it) => it > besideBase).map((it) => it - besideBase)
  const listed = positions.filter((it) => it <= besideBase)
  const [beside, list] = await db.query(
    [sql.beside, id, givenPositions(numbers)],
    [sql.records, id, givenPositions(listed)],
  )
  return [...beside.rows.map(toBeside), ...list.rows.map(toRecent)].slice(0, recentMax)
}

function toBeside(row: Row): RecentSignup {
  const { position, signup } = toRecord(row)
  const state = signup.suspect ? 'quarantine' : 'pending'
  const until = numberOf(row['until'])
  return { position: position + besideBase, signup, state, until, writtenAt: undefined }
}

function toRecent(row: Row): RecentSignup {
  const record = toRecord(row)
  const isWritten = flagOf(row['isWritten'])
  const delivered = isWritten ? 'written' : 'waiting'
  const own = row['rowStatus'] === rowStatus.none ? 'duplicate' : delivered
  const state = record.signup.suspect ? 'quarantine' : own
  return {
    ...record,
    state,
    writtenAt: numberOf(isWritten ? row['writtenAt'] : null),
    until: undefined,
  }
}

/** Whether it is of the choice after all: a duplicate is among those that wait or are written. */
function isOf({ tab, state }: RecentChoice, { signup, state: own }: RecentSignup): boolean {
  if (tab !== undefined && tabKey(signup.sheetTab) !== tabKey(tab)) return false
  return !(state === 'waiting' && own === 'written') && !(state === 'written' && own === 'waiting')
}

/** As `Reader.ofAddress`. */
export async function addressSlice(
  site: ReadSite,
  address: string,
  after: number,
): Promise<AddressSlice> {
  const end = after + slicePositions
  const finding = stepToFindAddress(site.id, after, end, address.toLowerCase())
  const [{ rows }, last] = await site.db.query(finding, [sql.last])
  const positions = rows.map(({ position }) => Number(position))
  const signups: RecentSignup[] = []
  for (let at = 0; at < positions.length; at += recentMax) {
    const found = await recordsAt(site, positions.slice(at, at + recentMax))
    signups.push(...found.toReversed())
  }
  const upto = Math.min(end, Number(rowOf(last)['position']))
  return { signups, upto, next: upto === end ? end : undefined }
}
