import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { openSqliteJournal } from '../harness/sqlite-journal.ts'
import { addressHash, personOf } from '../src/journal/hashes.ts'
import { rowStatus } from '../src/journal/tables/layout.ts'
import { usualSignup } from './journals.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const hours = 180 * 24
const tabs = 100
const signs = ['hidden-field', 'disposable-domain', 'link-in-name', 'busy-network', 'repeated-name']

/**
 * Makes a data folder with this many signups of the last 180 days, and with as much as can be of all else that
 * the admin page looks at: every hour is counted, each day has 100 tabs and 100 sources, one signup of 25 is
 * held, every other one of these is erased, and there are signups beside the list and blocks.
 */
export async function fillAdminJournal(dataDir: string, count: number): Promise<string> {
  await mkdir(dataDir, { recursive: true })
  const file = join(dataDir, 'journal.db')
  {
    // Makes the tables, the site and its default tab.
    await using journal = openSqliteJournal(file, { hasAdminPage: true })
    await journal.intake.append([usualSignup(0)])
  }
  const secret = (await readFile(join(dataDir, 'journal.secret'), 'utf8')).trim()
  using db = new DatabaseSync(file)
  db.function('person', (address) => personOf(addressHash(secret, String(address))))
  db.exec('PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -200000; BEGIN')
  for (const statement of statementsFor(count, Date.now())) db.exec(statement)
  db.exec('COMMIT; PRAGMA journal_mode = WAL')
  return dataDir
}

/** Tables of numbers from 1. */
const upTo = (name: string, max: number) =>
  `WITH RECURSIVE ${name}(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM ${name} WHERE n < ${max})`

function statementsFor(count: number, now: number): readonly string[] {
  const thisHour = now - (now % hourMs)
  const today = now - (now % dayMs)
  const each = Math.ceil(count / hours)
  const receivedAt = `(${now} - CAST((${count} - n) * ${(hours * hourMs) / count} AS integer))`
  const idOf = (more: string) => `unhex(printf('%012x7${more}8%015x', ${receivedAt}, n))`
  const isHeld = 'n % 25 = 0'
  const hourly = (what: string, number: number, name = '') =>
    `${upTo('hour', hours)} INSERT OR REPLACE INTO tally
     SELECT 1, '${what}', ${thisHour} + (1 - n) * ${hourMs}, '${name}', ${number} FROM hour
     UNION ALL SELECT 1, '${what}', -1, '${name}', ${number * hours}`
  const daily = (what: string, name: string, names: number) =>
    `${upTo('name', names)} INSERT OR REPLACE INTO tally
     SELECT 1, '${what}', day.value, ${name}, ${each} FROM name, json_each('${JSON.stringify([
       -1,
       ...Array.from({ length: 181 }, (_, at) => today - at * dayMs),
     ])}') AS day`
  return [
    'DELETE FROM signup',
    `${upTo('t', tabs)} INSERT INTO tab (id, site, key, name, opened_at)
     SELECT n + 1, 1, 'tab ' || n, 'Tab ' || n, ${now} FROM t`,
    `${upTo('signups', count)} INSERT INTO signup
     SELECT n, ${idOf('000')}, 2 + n % ${tabs}, ${receivedAt},
       CASE WHEN n % 50 = 0 THEN '' ELSE 'person' || n || '@example.com' END, 'source ' || (n % 100),
       'Ada Lovelace', '["launch","beta"]', '{"plan":"free"}', CASE WHEN ${isHeld} THEN ${rowStatus.held} ELSE 0 END, '', NULL,
       person('person' || n || '@example.com') FROM signups`,
    `UPDATE fact SET value = json_set(value, '$.upto', ${count}) WHERE name = 'people'`,
    `INSERT INTO held SELECT 1, position, 'busy-network' FROM signup
     WHERE row_status = ${rowStatus.held} AND email <> ''`,
    `UPDATE tab SET accepted = (SELECT count(*) FROM signup WHERE signup.tab = tab.id)`,
    `INSERT OR REPLACE INTO progress SELECT id, accepted, ${count},
       (SELECT count(*) FROM signup WHERE signup.tab = tab.id AND row_status = ${rowStatus.held}) FROM tab`,
    ...['accepted', 'written'].map((what) => hourly(what, each)),
    ...['erased', 'confirmed', 'asked'].map((what) => hourly(what, 1)),
    ...signs.map((name) => hourly('suspect', 1, name)),
    `INSERT INTO tally VALUES (1, 'pending', -1, '', ${count}), (1, 'ended', -1, '', ${count >> 1})`,
    daily('source', `'source ' || n`, 100),
    daily('source+', `''`, 1),
    daily('tab', `'Tab ' || n`, tabs),
    `INSERT OR REPLACE INTO fact VALUES (0, 'counted by day', '${count}')`,
    `${upTo('beside', Math.ceil(count / 20))} INSERT INTO pending (number, id, site, person, state, expires_at,
       signals, mail_wanted, share, language, sheet_tab, received_at, email, source, name, tags, metadata, fields)
     SELECT n, ${idOf('fff')}, 1, 'person' || n, 0, ${now + 24 * hourMs},
       CASE WHEN n % 2 = 0 THEN 'busy-network' ELSE '' END, 0, '', 'en', '', ${now}, 'asks' || n || '@example.com',
       '', '', '', '', '' FROM beside`,
    `${upTo('blocks', Math.ceil(count / 40))} INSERT INTO block SELECT 1, 'p' || n, 'left', ${now}, NULL FROM blocks`,
  ]
}
