import type { Millis } from '../../signup/signup.ts'
import { ask, type Operation, type Row, statementsOf } from '../sql.ts'
import { stepsToAppend } from '../tables/append-one.ts'
import { closing, erasedPending } from '../tables/pending/ending.ts'
import { besideState, layout, messageStage, rowStatus } from '../tables/layout.ts'
import { takingOver } from '../tables/quarantine.ts'
import { type Tab, Tabs } from '../tables/tabs.ts'
import { stepToCount } from '../tables/tally.ts'
import { connect } from './connect.ts'
import type { SqliteSite } from './site.ts'

const { pending, confirmed } = besideState

const sql = statementsOf('sqlite decisions', {
  close: closing('number = $2'),
  confirm: `UPDATE pending SET state = ${confirmed}, ${erasedPending} WHERE site = $1 AND number = $2`,
  eraseEnded: `UPDATE pending SET ${erasedPending}
               WHERE site = $1 AND state >= ${confirmed} AND email <> ''`,
})

/** How many signups are appended at once. */
const takenAtOnce = 100

/**
 * Appends what was pending in the backup and is confirmed in the journal in the file `replaced`, with the cells of
 * the backup, in its old order over all sites. So it stands at its old position or before it, and is
 * covered by the same tombstones.
 */
export async function appendConfirmed(
  sites: readonly SqliteSite[],
  replaced: string,
): Promise<void> {
  const [first] = sites
  if (!first) return
  const { db } = first
  using connection = attached(first, replaced)
  const byId = new Map(sites.map((site) => [site.id, site]))
  const rows: Row[] = []
  const append = () => db.transact([], () => appending(byId, rows.splice(0)))
  for (const row of connection.prepare(confirmedSince).iterate()) {
    rows.push(row)
    if (rows.length === takenAtOnce) await append()
  }
  await append()
}

/**
 * Takes over what the journal in the file `replaced` knows of the time since the backup, where the site has the id
 * `old`: who has declined, left or was let in again, whose time is over, which mails have gone, and what was
 * released from quarantine or erased there.
 */
export async function takeDecisions(
  site: SqliteSite,
  old: number,
  replaced: string,
): Promise<void> {
  const { db, id } = site
  using connection = attached(site, replaced)
  connection.exec(`BEGIN IMMEDIATE; ${decided(id, old)}; COMMIT`)
  await db.change([], [sql.eraseEnded, id], ...site.noteErased())
  const after = connection.prepare(heldNoMore)
  for (let rows = after.all(id, takenAtOnce); rows.length > 0;) {
    const withStatus = (status: number) =>
      rows.filter((row) => row['status'] === status).map((row) => Number(row['position']))
    const released = [...withStatus(rowStatus.wanted), ...withStatus(rowStatus.present)]
    const [duplicates, erased] = [withStatus(rowStatus.none), withStatus(rowStatus.held)]
    await db.transact([], () => takingOver(site, { released, duplicates, erased }, site.now()))
    rows = after.all(id, takenAtOnce)
  }
}

/** What is held in the backup, and in the replaced journal is so no more or was erased there. */
const heldNoMore = `
  SELECT held.position, known.row_status AS status
  FROM held CROSS JOIN signup ON signup.position = held.position
  CROSS JOIN replaced.signup AS known ON known.id = signup.id
  WHERE held.site = ? AND (known.row_status <> ${rowStatus.held} OR known.email = '')
  ORDER BY held.position LIMIT ?`

function attached({ db }: SqliteSite, replaced: string) {
  const connection = connect(db.file)
  connection.prepare('ATTACH ? AS replaced').run(replaced)
  return connection
}

/** What was pending in the backup, and is in the list of the replaced journal, or was before it was erased. */
const confirmedSince = `
  SELECT pending.site, pending.number, pending.id, known.received_at AS "receivedAt",
    known.confirmed_at AS "confirmedAt", tab.name AS "sheetTab",
    pending.email, pending.source, pending.name, pending.tags, pending.metadata, pending.fields
  FROM pending
  JOIN replaced.signup AS known ON known.id = pending.id
  JOIN replaced.tab ON tab.id = known.tab
  WHERE pending.state = ${pending} AND pending.email <> ''
  ORDER BY known.position`

function* appending(sites: ReadonlyMap<number, SqliteSite>, rows: readonly Row[]): Operation<void> {
  for (const row of rows) {
    const site = sites.get(Number(row['site']))
    if (!site) continue
    const { id } = site
    const [number, confirmedAt] = [Number(row['number']), Number(row['confirmedAt'])]
    const tab = yield* tabOf(site, String(row['sheetTab']), confirmedAt)
    if (tab === undefined) continue
    yield* ask(
      [sql.close, id, number],
      ...stepsToAppend(site, row, tab, confirmedAt),
      [sql.confirm, id, number],
      ...site.noteErased(),
      stepToCount(id, 'confirmed', confirmedAt),
    )
  }
}

/** The tab of this name, or the default one where the settings allow fewer tabs now. */
function* tabOf(site: SqliteSite, name: string, at: Millis): Operation<Tab | undefined> {
  const tabs = new Tabs(site)
  const [tab] = yield* tabs.take([{ sheetTab: name }], at, undefined)
  if (tab) return tab
  const [fallback] = yield* tabs.take([{ sheetTab: '' }], at, undefined)
  return fallback
}

const messageColumns = Object.keys(layout.find(({ name }) => name === 'message')?.columns ?? {})

/** What a message has of its own in each journal, and by what it is known in both. */
const own: ReadonlySet<string> = new Set(['number', 'site', 'id', 'pending'])

const known = (columns: readonly string[]) =>
  columns.map((column) => `${column} = known.${column}`).join(', ')

/** Statements for a site, which has the second id in the replaced journal. */
function decided(site: number, old: number): string {
  const ofMessage = `SELECT pending.number FROM replaced.pending AS asked
    JOIN pending ON pending.id = asked.id WHERE asked.number = known.pending`
  const copied = messageColumns.map((column) => {
    if (column === 'site') return String(site)
    // Its number may be given to another one here.
    if (column === 'pending') return `coalesce((${ofMessage}), 0)`
    if (column !== 'number') return column
    return '(SELECT coalesce(max(number), 0) FROM message) + row_number() OVER (ORDER BY number)'
  })
  const ended = `site = ${site}
    AND id IN (SELECT id FROM replaced.pending WHERE site = ${old} AND state <> ${pending})`
  // Of people whom the backup does not know, links say that their time is over, and nothing waits. A sending gets a
  // negative number: a new message gets that of one after the backup.
  return `
    UPDATE message SET ${known(messageColumns.filter((column) => !own.has(column)))}
    FROM replaced.message AS known
    WHERE message.site = ${site} AND known.site = ${old} AND known.id = message.id;
    ${closing(ended).replaceAll('$1', String(site))};
    UPDATE pending SET ${known(['state', 'expires_at', 'mail_wanted', 'is_late', 'signals', 'person', 'sheet_tab'])}
    FROM replaced.pending AS known
    WHERE pending.site = ${site} AND known.site = ${old} AND known.id = pending.id;
    INSERT INTO message (${messageColumns.join(', ')})
      SELECT ${copied.join(', ')} FROM replaced.message AS known
      WHERE site = ${old} AND kind IN ('confirm', 'welcome') AND person <> ''
        AND NOT EXISTS (SELECT 1 FROM message WHERE message.id = known.id)
        AND (stage >= ${messageStage.sent} OR CASE kind
          WHEN 'welcome' THEN EXISTS (SELECT 1 FROM signup WHERE signup.id = known.greets)
          ELSE EXISTS (SELECT 1 FROM pending
            WHERE pending.site = ${site} AND pending.person = known.person) END);
    INSERT OR REPLACE INTO tally SELECT ${site}, what, slot, name, count FROM replaced.tally
      WHERE site = ${old} AND what = 'asked';
    DELETE FROM block WHERE site = ${site};
    INSERT INTO block SELECT ${site}, person, why, at, until FROM replaced.block WHERE site = ${old};
    INSERT OR IGNORE INTO sending
      SELECT -message, ${site}, recipient, at FROM replaced.sending WHERE site = ${old} AND message NOT IN (
        SELECT known.number FROM replaced.message AS known
        JOIN message ON message.id = known.id JOIN sending ON sending.message = message.number)`
}
