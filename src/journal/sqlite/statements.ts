const status = `
  SELECT signup.position, signup.id, signup.received_at AS receivedAt, tab.name AS sheetTab,
    tab.key = '' AS isTabOpen, (
    SELECT batch.settled_at FROM batch_range JOIN batch ON batch.number = batch_range.batch
    WHERE batch_range.tab = signup.tab AND batch_range.upto >= signup.position
    ORDER BY batch_range.upto LIMIT 1
  ) AS writtenAt
  FROM signup JOIN tab ON tab.id = signup.tab`

const signupColumns = `position, signup.id, received_at AS receivedAt, email, source,
  signup.name AS name, tags, metadata, fields`

const waitingColumns = `${signupColumns}, is_ignored AS isIgnored,
  octet_length(email) + octet_length(source) + octet_length(signup.name)
  + octet_length(tags) + octet_length(metadata) + octet_length(fields) AS textBytes`

/** How many signups one statement adds. That takes a quarter less time than one statement for each. */
export const signupsAtOnce = 32

// Limits stand in the text: SQLite plans a statement anew for each run when its limit is bound.

/** How many signups of a tab are read at once. That takes less than a millisecond. */
export const sliceRows = 100

/** Each new key or token deletes up to two that are too old, so the tables shrink as they are used. */
const deletedAtOnce = 2

const removalsAtOnce = 100

/** Whether this batch was the last one of the signup, and nothing waits for it. `batch` is a parameter. */
function isExpirable(batch: string): string {
  return `NOT EXISTS (SELECT 1 FROM redelivery
                      WHERE redelivery.tab = signup.tab AND redelivery.position = signup.position)
          AND NOT EXISTS (SELECT 1 FROM redelivered AS later
                          WHERE later.position = signup.position AND later.batch > ${batch})`
}

function addSignups(count: number): string {
  const row = '(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)'
  return `INSERT INTO signup
            (position, id, tab, received_at, email, source, name, tags, metadata, fields, is_ignored)
          VALUES ${Array<string>(count).fill(row).join(', ')}`
}

/** All statements that run for requests, batches and calls. A test checks their query plans. */
export const statements = {
  site: 'SELECT id, code FROM site WHERE name = ?',
  sites: 'SELECT id, name FROM site',
  addSite: 'INSERT INTO site (name, code, marker_base) VALUES (?, ?, ?) RETURNING id, code',
  markerBase: 'SELECT marker_base AS base FROM site WHERE id = ?',
  setSiteCode: 'UPDATE site SET code = ? WHERE id = ?',
  setMarkerBase: 'UPDATE site SET marker_base = ? WHERE id = ?',
  runningTime: 'SELECT running_ms AS ms, running_by AS by FROM site WHERE id = ?',
  setRunningTime: 'UPDATE site SET running_ms = ?, running_by = ? WHERE id = ?',
  lastSettled: 'SELECT last_settled_at AS at FROM site WHERE id = ?',
  lastSettledOfAll: 'SELECT max(last_settled_at) AS at FROM site',
  setLastSettled: 'UPDATE site SET last_settled_at = ? WHERE id = ?',
  fact: 'SELECT value FROM fact WHERE site = ? AND name = ?',
  setFact: `INSERT INTO fact (site, name, value) VALUES (?, ?, ?)
            ON CONFLICT (site, name) DO UPDATE SET value = excluded.value`,
  tab: 'SELECT id, name FROM tab WHERE site = ? AND key = ?',
  countTabs: 'SELECT count(*) AS count FROM tab WHERE site = ?',
  countTabsOpenedBy: `SELECT count(*) AS count FROM tab
                      WHERE site = ? AND opened_by = ? AND opened_at > ? AND opened_at <= ?`,
  addTab: 'INSERT INTO tab (site, key, name, opened_at, opened_by) VALUES (?, ?, ?, ?, ?)',
  forgetOpeners: `UPDATE tab SET opened_by = NULL
                  WHERE site = ? AND opened_by IS NOT NULL AND opened_at <= ?`,
  countAccepted: 'UPDATE tab SET accepted = accepted + ?1 WHERE id = ?2',
  countHour: `INSERT INTO hour_count (site, hour, accepted, written) VALUES (?, ?, ?, 0)
              ON CONFLICT (site, hour) DO UPDATE SET accepted = accepted + excluded.accepted`,
  countHourOfBatch: `INSERT INTO hour_count (site, hour, accepted, written)
                     SELECT ?1, ?2, 0, sum(signups) FROM batch_range WHERE batch = ?3 HAVING count(*) > 0
                     ON CONFLICT (site, hour) DO UPDATE SET written = written + excluded.written`,
  nameTab: 'UPDATE tab SET key = ?, name = ? WHERE id = ?',
  // Runs before the signups of ?1 move to ?2. Marks those that become duplicates by the move.
  ignoreDuplicates: `UPDATE signup SET is_ignored = 1
                     WHERE tab IN (?1, ?2) AND email <> ''
                       AND position >= (SELECT min(position) FROM signup WHERE tab = ?1)
                       AND EXISTS (
                         SELECT 1 FROM signup AS earlier
                         WHERE earlier.tab IN (?1, ?2) AND lower(earlier.email) = lower(signup.email)
                           AND earlier.position < signup.position
                           AND earlier.position NOT IN (SELECT position FROM removal))`,
  moveSignups: 'UPDATE signup SET tab = ?2 WHERE tab = ?1',
  moveAccepted: `UPDATE tab SET accepted = accepted + (SELECT accepted FROM tab WHERE id = ?1)
                 WHERE id = ?2`,
  deleteTab: 'DELETE FROM tab WHERE id = ?',
  lastPosition: 'SELECT max(position) AS position FROM signup',
  addSignup: addSignups(1),
  addSignups: addSignups(signupsAtOnce),
  sameAddress: `SELECT 1 FROM signup
                WHERE tab = ? AND lower(email) = lower(?) AND position > ? LIMIT 1`,
  // 8 MB: four times SQLite's own, and more is hardly faster.
  cacheKnownAddresses: 'PRAGMA temp.cache_size = -8000',
  makeKnownAddresses: `CREATE TEMP TABLE IF NOT EXISTS known_address (
                         tab   INTEGER NOT NULL,
                         email TEXT    NOT NULL, -- in lower case
                         PRIMARY KEY (tab, email)
                       ) STRICT, WITHOUT ROWID`,
  learnAddresses: `INSERT OR IGNORE INTO known_address
                   SELECT tab, lower(email) FROM signup
                   WHERE position > ? AND position <= ? AND email <> ''
                     AND position NOT IN (SELECT position FROM removal)
                   ORDER BY tab, lower(email)`,
  knowsAddress: 'SELECT 1 FROM known_address WHERE tab = ? AND email = lower(?)',
  learnAddress: 'INSERT OR IGNORE INTO known_address VALUES (?, lower(?))',
  forgetAddresses: 'DELETE FROM known_address',
  findSignup: `${status} WHERE signup.id = ? AND tab.site = ?`,
  signupsBetween: `${status} WHERE signup.position BETWEEN ? AND ? ORDER BY signup.position`,
  idempotencyKey: `SELECT fingerprint, first_position AS first, last_position AS last, refused
                   FROM idempotency_key WHERE site = ? AND space = ? AND key = ?`,
  addIdempotencyKey: `INSERT INTO idempotency_key
                        (site, space, key, fingerprint, first_position, last_position, refused, stored_at)
                      VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  deleteIdempotencyKeys: `DELETE FROM idempotency_key WHERE (site, space, key) IN (
                            SELECT site, space, key FROM idempotency_key WHERE stored_at < ?
                            ORDER BY stored_at LIMIT ${deletedAtOnce})`,
  usedToken: 'SELECT 1 FROM used_token WHERE digest = ?',
  addUsedToken: 'INSERT INTO used_token (digest, stored_at) VALUES (?, ?)',
  deleteUsedTokens: `DELETE FROM used_token WHERE digest IN (
                       SELECT digest FROM used_token WHERE stored_at < ?
                       ORDER BY stored_at LIMIT ${deletedAtOnce})`,
  backlog: 'SELECT coalesce(sum(accepted - written), 0) AS count FROM tab WHERE site = ?',
  backlogs: `SELECT site.name AS name, (
               SELECT coalesce(sum(accepted - written), 0) FROM tab WHERE tab.site = site.id
             ) AS count FROM site ORDER BY site.name`,
  totals: `SELECT coalesce(sum(accepted), 0) AS accepted, coalesce(sum(written), 0) AS written
           FROM tab WHERE site = ?`,
  hours: `SELECT hour, accepted, written FROM hour_count
          WHERE site = ? AND hour BETWEEN ? AND ? ORDER BY hour`,
  callsSince: 'SELECT count(*) AS count FROM provider_call WHERE account = ? AND at > ?',
  cursor: 'SELECT written_to AS upto FROM tab WHERE site = ? AND key = ?',
  pending: `SELECT id, name, written_to AS writtenTo, 0 AS isAgain, (
              SELECT position FROM signup WHERE tab = tab.id AND position > tab.written_to
              ORDER BY position LIMIT 1
            ) AS oldest
            FROM tab WHERE site = ?1 AND oldest IS NOT NULL
            UNION ALL
            SELECT id, name, 0, 1, 0 FROM tab WHERE site = ?1 AND EXISTS (
              SELECT 1 FROM redelivery WHERE tab = tab.id AND batch IS NULL)
            ORDER BY isAgain, oldest`,
  firstAgain: `SELECT key, (
                 SELECT queued_at FROM redelivery WHERE tab = tab.id ORDER BY position LIMIT 1
               ) AS receivedAt FROM tab WHERE site = ? AND receivedAt IS NOT NULL`,
  firstWaiting: `SELECT tab.key AS key, signup.id AS id
                 FROM tab JOIN signup ON signup.position = (
                   SELECT position FROM signup WHERE tab = tab.id AND position > tab.written_to
                   ORDER BY position LIMIT 1
                 ) WHERE tab.site = ?`,
  signupsOfTab: `SELECT ${waitingColumns} FROM signup
                 WHERE tab = ? AND position > ? ORDER BY position LIMIT ${sliceRows}`,
  signupsOfRange: `SELECT ${waitingColumns} FROM signup
                   WHERE tab = ? AND position > ? AND position <= ? ORDER BY position`,
  signupsAgain: `SELECT ${waitingColumns}
                 FROM redelivery JOIN signup USING (position)
                 WHERE redelivery.tab = ? AND position > ? AND batch IS NULL
                 ORDER BY position LIMIT ${sliceRows}`,
  againInBatch: `SELECT redelivery.tab AS tab, tab.name AS tabName, ${waitingColumns}
                 FROM redelivery JOIN signup USING (position) JOIN tab ON tab.id = redelivery.tab
                 WHERE batch = ? ORDER BY redelivery.tab, position`,
  freezeAgain: `UPDATE redelivery SET batch = ?
                WHERE tab = ? AND position BETWEEN ? AND ? AND batch IS NULL`,
  // Before it, what was erased is counted and dropped.
  countErasedAgain: `UPDATE tab SET written = written + (
                       SELECT count(*) FROM redelivery JOIN signup USING (position)
                       WHERE batch = ?1 AND redelivery.tab = tab.id AND email = '')
                     WHERE id IN (SELECT tab FROM redelivery WHERE batch = ?1)`,
  dropErasedAgain: `DELETE FROM redelivery WHERE batch = ? AND position IN (
                      SELECT position FROM signup WHERE signup.tab = redelivery.tab AND email = '')`,
  releaseAgain: 'UPDATE redelivery SET batch = NULL WHERE batch = ?',
  addRedelivered: `INSERT INTO redelivered (position, batch)
                   SELECT position, batch FROM redelivery WHERE batch = ?`,
  countRedelivered: `UPDATE tab SET written = written + (
                       SELECT count(*) FROM redelivery WHERE batch = ?1 AND tab = tab.id)
                     WHERE id IN (SELECT tab FROM redelivery WHERE batch = ?1)`,
  deleteRedelivery: 'DELETE FROM redelivery WHERE batch = ?',
  // CROSS JOIN keeps this order of the tables, so SQLite reads by position and not by tab.
  signupsAfter: `SELECT ${signupColumns}, tab.name AS sheetTab
                 FROM signup CROSS JOIN tab ON tab.id = signup.tab
                 WHERE position > ? AND tab.site = ? AND email <> ''
                   AND position NOT IN (SELECT position FROM removal) ORDER BY position LIMIT ?`,
  erasedBetween: `SELECT position FROM signup
                  WHERE tab = ? AND email = '' AND position > ? AND position <= ?`,
  tombstone: 'SELECT upto FROM tombstone WHERE site = ? AND hash = ?',
  anyTombstone: 'SELECT 1 FROM tombstone WHERE site = ? LIMIT 1',
  setTombstone: `INSERT INTO tombstone (site, hash, upto) VALUES (?, ?, ?)
                 ON CONFLICT (site, hash) DO UPDATE SET upto = max(upto, excluded.upto)`,
  tombstones: 'SELECT hash, upto FROM tombstone WHERE site = ? AND hash > ? ORDER BY hash LIMIT ?',
  // The next two read a bounded range of positions.
  addressesBetween: `SELECT position, email FROM signup CROSS JOIN tab ON tab.id = signup.tab
                     WHERE position > ?1 AND position <= ?2 AND tab.site = ?3 AND email <> ''
                       AND (?4 IS NULL OR lower(email) = ?4)`,
  mentionsBetween: `SELECT count(*) AS count FROM signup CROSS JOIN tab ON tab.id = signup.tab
                    WHERE position > ?1 AND position <= ?2 AND tab.site = ?3 AND lower(email) <> ?4
                      AND instr(lower(source || ' ' || signup.name || ' ' || tags || ' ' || metadata
                                  || ' ' || fields), ?4)`,
  erasable: `SELECT tab, email, is_ignored AS isIgnored, position <= tab.written_to AS isWritten,
               EXISTS (
                 SELECT 1 FROM batch_range JOIN batch ON batch.number = batch_range.batch
                 WHERE batch_range.tab = signup.tab AND position > after AND position <= upto
                   AND settled_at IS NULL
               ) OR EXISTS (
                 SELECT 1 FROM redelivery
                 WHERE redelivery.tab = signup.tab AND redelivery.position = signup.position
                   AND batch IS NOT NULL
               ) AS isFrozen
             FROM signup JOIN tab ON tab.id = signup.tab WHERE position = ?`,
  eraseSignup: `UPDATE signup SET email = '', source = '', name = '', tags = '', metadata = '',
                fields = '', is_ignored = ?2 OR is_ignored WHERE position = ?1`,
  addRemoval: 'INSERT INTO removal (position, email) VALUES (?, ?) ON CONFLICT DO NOTHING',
  deleteRemoval: 'DELETE FROM removal WHERE position = ?',
  removals: `SELECT removal.position AS position, removal.email AS email, tab.name AS tab,
               received_at AS receivedAt
             FROM removal CROSS JOIN signup USING (position) CROSS JOIN tab ON tab.id = signup.tab
             WHERE tab.site = ? AND signup.email = '' AND removal.position > ?
             ORDER BY removal.position LIMIT ${removalsAtOnce}`,
  countRemovals: `SELECT count(*) FILTER (WHERE signup.email = '') AS removals,
                    count(*) FILTER (WHERE signup.email <> '') AS frozen
                  FROM removal CROSS JOIN signup USING (position) CROSS JOIN tab ON tab.id = signup.tab
                  WHERE tab.site = ?`,
  removalsOfBatch: `SELECT removal.position AS position, removal.position <= written_to AS isWritten
                    FROM removal CROSS JOIN signup USING (position) CROSS JOIN tab ON tab.id = signup.tab
                    WHERE signup.email <> '' AND (EXISTS (
                      SELECT 1 FROM batch_range
                      WHERE batch = ?1 AND batch_range.tab = signup.tab
                        AND removal.position > after AND removal.position <= upto
                    ) OR EXISTS (
                      SELECT 1 FROM redelivery
                      WHERE batch = ?1 AND redelivery.position = removal.position))`,
  unexpiredBatch: `SELECT number, settled_at AS settledAt FROM batch
                   WHERE site = ? AND settled_at < ? AND is_expired = 0
                   ORDER BY settled_at, number LIMIT 1`,
  expirable: `SELECT position, signup.tab AS tab, email
              FROM batch_range CROSS JOIN signup
                ON signup.tab = batch_range.tab AND position > after AND position <= upto
              WHERE batch_range.batch = ?1 AND email <> '' AND ${isExpirable('?1')}
              UNION ALL
              SELECT position, signup.tab, email FROM redelivered CROSS JOIN signup USING (position)
              WHERE redelivered.batch = ?1 AND email <> '' AND ${isExpirable('?1')}
              LIMIT ${sliceRows}`,
  expireSignup: `UPDATE signup SET email = '', source = '', name = '', tags = '', metadata = '',
                   fields = ''
                 WHERE position = ?1 AND email <> '' AND ${isExpirable('?2')}`,
  expireBatch: 'UPDATE batch SET is_expired = 1 WHERE number = ?',
  keepAddress: 'INSERT OR IGNORE INTO kept_address (tab, hash) VALUES (?, ?)',
  keptAddress: 'SELECT 1 FROM kept_address WHERE tab = ? AND hash = ?',
  anyKeptAddress: 'SELECT 1 FROM kept_address WHERE tab = ? LIMIT 1',
  dropKeptAddress: `DELETE FROM kept_address
                    WHERE tab IN (SELECT id FROM tab WHERE site = ?) AND hash = ?`,
  dropRedelivery: 'DELETE FROM redelivery WHERE tab = ? AND position = ? AND batch IS NULL',
  dropFact: 'DELETE FROM fact WHERE site = ? AND name = ?',
  deleteFact: 'DELETE FROM fact WHERE site = ? AND name = ? AND value = ?',
  // The batch that first delivered each signup, and the last one that delivered it to the spreadsheet ?1.
  signupsToCompare: `SELECT position, received_at AS receivedAt, email, is_ignored AS isIgnored,
                       tab.name AS sheetTab, batch.number AS batch, batch.spreadsheet AS spreadsheet, (
                         SELECT max(again.number) FROM redelivered
                         JOIN batch AS again ON again.number = redelivered.batch
                         WHERE redelivered.position = signup.position AND again.spreadsheet = ?1
                       ) AS again,
                       EXISTS (SELECT 1 FROM redelivery WHERE redelivery.tab = signup.tab
                               AND redelivery.position = signup.position) AS isQueued
                     FROM signup CROSS JOIN tab ON tab.id = signup.tab
                     LEFT JOIN batch ON settled_at IS NOT NULL AND batch.number = (
                       SELECT batch FROM batch_range
                       WHERE batch_range.tab = signup.tab AND upto >= signup.position
                       ORDER BY upto LIMIT 1)
                     WHERE position > ?2 AND tab.site = ?3 ORDER BY position LIMIT ?4`,
  signupAt: `SELECT ${signupColumns}, tab.name AS sheetTab
             FROM signup JOIN tab ON tab.id = signup.tab WHERE position = ?`,
  lastBatch: 'SELECT max(number) AS number FROM batch',
  queueSignup: `INSERT INTO redelivery (tab, position, queued_at)
                SELECT tab, position, ?2 FROM signup
                WHERE position = ?1 AND is_ignored <> 1 AND email <> '' AND NOT EXISTS (
                  SELECT 1 FROM redelivered WHERE redelivered.position = ?1 AND batch > ?3)
                ON CONFLICT (tab, position) DO NOTHING`,
  dropQueued:
    'DELETE FROM redelivery WHERE batch IS NULL AND (tab, position) = (SELECT tab, position FROM signup WHERE position = ?)',
  noteArrived: 'UPDATE signup SET is_ignored = 2 WHERE position = ? AND is_ignored = 0',
  needRowAgain: 'UPDATE signup SET is_ignored = 0 WHERE position = ? AND is_ignored = 2',
  recountWritten: `UPDATE tab SET written = written + 1
                   WHERE id = (SELECT tab FROM signup WHERE position = ?)`,
  uncountWritten: `UPDATE tab SET written = written - 1
                   WHERE id = (SELECT tab FROM signup WHERE position = ?)`,
  addBatch: 'INSERT INTO batch (site, digest) VALUES (?, ?) RETURNING number',
  addRange: 'INSERT INTO batch_range (tab, upto, after, batch, signups) VALUES (?, ?, ?, ?, ?)',
  addMarker: 'INSERT INTO marker (site, id, batch) VALUES (?, ?, ?)',
  frozenBatch: `SELECT number, digest, marker.id AS marker
                FROM batch JOIN marker ON marker.batch = batch.number
                WHERE batch.site = ? AND settled_at IS NULL`,
  rangesOfBatch: `SELECT tab, tab.name AS name, after, upto
                  FROM batch_range JOIN tab ON tab.id = batch_range.tab WHERE batch = ? ORDER BY tab`,
  settleBatch: `UPDATE batch SET settled_at = ?, spreadsheet = ?
                WHERE number = ? AND site = ? AND settled_at IS NULL`,
  moveCursors: `UPDATE tab SET written_to = range.upto, written = written + range.signups
                FROM batch_range AS range WHERE range.batch = ? AND tab.id = range.tab`,
  deleteRanges: 'DELETE FROM batch_range WHERE batch = ?',
  deleteBatch: 'DELETE FROM batch WHERE number = ?',
  endMarker: 'UPDATE marker SET is_ended = 1 WHERE batch = ?',
  changeMarker: 'UPDATE marker SET id = ? WHERE batch = ?',
  markFound: 'UPDATE marker SET is_found = 1 WHERE batch = ?',
  ripenMarker: `UPDATE marker SET ripe_at = ?
                WHERE site = ? AND id = ? AND is_ended AND ripe_at IS NULL`,
  endedMarkers: `SELECT id, is_found AS isFound, ripe_at AS ripeAt
                 FROM marker WHERE site = ? AND is_ended ORDER BY batch`,
  countMarkers: 'SELECT count(*) AS count FROM marker WHERE site = ?',
  marker: 'SELECT id FROM marker WHERE site = ? AND id = ?',
  // A batch of this journal has a positive number.
  adoptMarker: `INSERT INTO marker (site, id, batch, is_found, is_ended)
                VALUES (?1, ?2, -?2, 1, 1)`,
  deleteMarker: 'DELETE FROM marker WHERE site = ? AND id = ?',
  callsAfter: `SELECT number, at, is_sure AS isSure FROM provider_call
               WHERE account = ? AND number > ? ORDER BY number`,
  addCall: 'INSERT INTO provider_call (account, number, at, is_sure) VALUES (?, ?, ?, ?)',
  dropCalls: 'DELETE FROM provider_call WHERE account = ?',
  deleteCalls: `DELETE FROM provider_call WHERE account = ?1 AND at < ?2 AND number IN (
                  SELECT number FROM provider_call WHERE account = ?1 ORDER BY number LIMIT 2)`,
} as const
