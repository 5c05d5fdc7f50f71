import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { openSqliteJournal } from '../harness/sqlite-journal.ts'
import { usualSignup } from './journals.ts'

const hourMs = 3_600_000
const hours = 180 * 24
const tabs = 100
const heldTab = tabs + 2

/**
 * Makes a data folder with this many signups of the last 180 days, and with as much as can be of all else that
 * the admin page looks at: every hour is counted, each day has 100 tabs and 100 sources, one signup of 25 is in
 * the quarantine tab, every other one of these is erased, and there are signups beside the list and blocks.
 */
export async function fillAdminJournal(dataDir: string, count: number): Promise<string> {
  await mkdir(dataDir, { recursive: true })
  const file = join(dataDir, 'journal.db')
  {
    // Makes the tables, the site and its default tab.
    await using journal = openSqliteJournal(file)
    await journal.intake.append([usualSignup(0)])
  }
  using db = new DatabaseSync(file)
  db.exec('PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -200000; BEGIN')
  for (const statement of statementsFor(count, Date.now())) db.exec(statement)
  db.exec('COMMIT; PRAGMA journal_mode = WAL')
  return dataDir
}

/** Tables of numbers from 1. */
const upTo = (name: string, max: number) =>
  `WITH RECURSIVE ${name}(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM ${name} WHERE n < ${max})`

function statementsFor(count: number, now: number): readonly string[] {
  const thisHour = Math.floor(now / hourMs)
  const today = Math.floor(thisHour / 24)
  const each = Math.ceil(count / hours)
  const receivedAt = `(${now} - CAST((${count} - n) * ${(hours * hourMs) / count} AS integer))`
  const idOf = (more: string) => `unhex(printf('%012x7${more}8%015x', ${receivedAt}, n))`
  const isHeld = 'n % 25 = 0'
  const hourly = `${upTo('hour', hours)} INSERT OR REPLACE INTO`
  const counted = (kind: string, name: string, names: number) =>
    `${upTo('name', names)} INSERT OR REPLACE INTO day_count
     SELECT 1, '${kind}', day.value, ${name}, ${each} FROM name, json_each('${JSON.stringify([
       -1,
       ...Array.from({ length: 181 }, (_, at) => today - at),
     ])}') AS day`
  return [
    'DELETE FROM signup',
    `${upTo('t', tabs)} INSERT INTO tab SELECT n + 1, 1, 'tab ' || n, 'Tab ' || n, 0, ${now}, NULL FROM t`,
    `INSERT INTO tab VALUES (${heldTab}, 1, char(1) || 'quarantine', 'Quarantine', 0, ${now}, NULL)`,
    `${upTo('signups', count)} INSERT INTO signup
     SELECT n, ${idOf('000')}, CASE WHEN ${isHeld} THEN ${heldTab} ELSE 2 + n % ${tabs} END, ${receivedAt},
       CASE WHEN n % 50 = 0 THEN '' ELSE 'person' || n || '@example.com' END, 'source ' || (n % 100),
       'Ada Lovelace', '["launch","beta"]', '{"plan":"free"}', 0, '', NULL FROM signups`,
    `INSERT INTO suspect SELECT position, 2, 'busy-network', '' FROM signup WHERE tab = ${heldTab}`,
    `UPDATE tab SET accepted = (SELECT count(*) FROM signup WHERE signup.tab = tab.id)`,
    `INSERT OR REPLACE INTO progress SELECT id, accepted, ${count} FROM tab`,
    `${hourly} hour_accepted SELECT 1, ${thisHour + 1} - n, ${each} FROM hour`,
    `${hourly} hour_written SELECT 1, ${thisHour + 1} - n, ${each} FROM hour`,
    `${hourly} hour_erased SELECT 1, ${thisHour + 1} - n, 1 FROM hour`,
    `${hourly} hour_pending SELECT 1, ${thisHour + 1} - n, 2, 1, 1 FROM hour`,
    `INSERT INTO hour_pending VALUES (1, -1, ${count}, 1, ${count >> 1})`,
    `${hourly} hour_suspect SELECT 1, ${thisHour + 1} - n, signals.value, 1 FROM hour, json_each(
       '["hidden-field","disposable-domain","link-in-name","busy-network","repeated-name"]') AS signals`,
    counted('source', `'source ' || n`, 100),
    counted('source+', `'0'`, 1),
    counted('tab', `CAST(n + 1 AS text)`, tabs),
    `INSERT OR REPLACE INTO fact VALUES (0, 'counted by day', '${count}')`,
    `${upTo('beside', Math.ceil(count / 20))} INSERT INTO pending
     SELECT n, ${idOf('fff')}, 1, 'person' || n, 0, ${now + 24 * hourMs}, NULL,
       CASE WHEN n % 2 = 0 THEN 'busy-network' ELSE '' END, 0, '', 'en', '', ${now}, 'asks' || n || '@example.com',
       '', '', '', '', '' FROM beside`,
    `${upTo('blocks', Math.ceil(count / 40))} INSERT INTO block SELECT 1, 'p' || n, 'left', ${now}, NULL FROM blocks`,
  ]
}
