/**
 * The journal's tables, as numbered migrations: `PRAGMA user_version` says how many have run.
 * A migration that was released is never edited; a change is a new one.
 */
export const migrations: readonly string[] = [
  `
  -- Small facts about this journal: its id, the base of its marker ids.
  CREATE TABLE property (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

  CREATE TABLE tab (
    id         INTEGER PRIMARY KEY,
    key        TEXT    NOT NULL UNIQUE, -- empty: the default tab, until it is resolved
    name       TEXT    NOT NULL,
    -- Delivery's cursor: every signup of the tab up to this position is in the spreadsheet.
    written_to INTEGER NOT NULL DEFAULT 0,
    opened_at  INTEGER NOT NULL,
    opened_by  TEXT -- a digest; null when it is not counted, or not any more
  ) STRICT;
  CREATE INDEX tab_by_opener ON tab (opened_by, opened_at) WHERE opened_by IS NOT NULL;

  CREATE TABLE signup (
    position    INTEGER PRIMARY KEY AUTOINCREMENT,
    id          TEXT    NOT NULL UNIQUE,
    tab         INTEGER NOT NULL REFERENCES tab (id),
    received_at INTEGER NOT NULL,
    email       TEXT    NOT NULL,
    source      TEXT    NOT NULL,
    name        TEXT    NOT NULL,
    tags        TEXT    NOT NULL, -- a JSON array, or '' when there are none
    metadata    TEXT    NOT NULL, -- a JSON object, or ''
    -- 1: a duplicate that gets no row. It is in the ranges of batches like any other.
    is_ignored  INTEGER NOT NULL
  ) STRICT;
  -- An index entry ends with the rowid, so this one serves (tab, position).
  CREATE INDEX signup_by_tab ON signup (tab);

  CREATE TABLE idempotency_key (
    space          TEXT    NOT NULL, -- the name space that the key belongs to
    key            TEXT    NOT NULL,
    fingerprint    TEXT    NOT NULL,
    -- One request's signups are neighbours: an append is one transaction.
    first_position INTEGER NOT NULL,
    last_position  INTEGER NOT NULL,
    refused        TEXT    NOT NULL, -- a JSON array of places in the request, or ''
    stored_at      INTEGER NOT NULL,
    PRIMARY KEY (space, key)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX idempotency_key_by_time ON idempotency_key (stored_at);

  -- Challenge tokens that signups were stored with.
  CREATE TABLE used_token (
    digest    TEXT    PRIMARY KEY,
    stored_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX used_token_by_time ON used_token (stored_at);

  CREATE TABLE batch (
    number     INTEGER PRIMARY KEY AUTOINCREMENT, -- so that no number is used twice
    digest     TEXT    NOT NULL,
    signups    INTEGER NOT NULL,
    -- Null while the batch is frozen. Released batches are deleted.
    settled_at INTEGER
  ) STRICT;
  CREATE UNIQUE INDEX batch_frozen ON batch (settled_at IS NULL) WHERE settled_at IS NULL;

  -- Which signups a batch holds: those of the tab with after < position <= upto.
  CREATE TABLE batch_range (
    tab   INTEGER NOT NULL REFERENCES tab (id),
    upto  INTEGER NOT NULL,
    after INTEGER NOT NULL,
    batch INTEGER NOT NULL REFERENCES batch (number),
    PRIMARY KEY (tab, upto)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX batch_range_by_batch ON batch_range (batch);

  -- Markers that may still stand in the spreadsheet.
  CREATE TABLE marker (
    id       INTEGER PRIMARY KEY,
    batch    INTEGER NOT NULL UNIQUE,
    -- 1: a writer that did not freeze the batch has found it frozen, and may send it too.
    is_found INTEGER NOT NULL DEFAULT 0,
    is_ended INTEGER NOT NULL DEFAULT 0,
    -- The running time from which it may be pruned; null until that is known.
    ripe_at  INTEGER
  ) STRICT;

  -- Calls to the provider in the last day, for pacing.
  CREATE TABLE provider_call (at INTEGER NOT NULL) STRICT;
  CREATE INDEX provider_call_by_time ON provider_call (at);
  `,
]

/**
 * Finds duplicates. Only there while they are ignored, since it makes every append slower; SQLite
 * fills it from the signups that exist. Addresses are ASCII, which is what its `lower` knows.
 */
export const addressIndex = {
  create: 'CREATE INDEX IF NOT EXISTS signup_by_address ON signup (tab, lower(email))',
  drop: 'DROP INDEX IF EXISTS signup_by_address',
} as const

const status = `
  SELECT signup.position, signup.id, signup.received_at AS receivedAt, tab.name AS sheetTab,
    tab.key = '' AS isTabOpen, (
    SELECT batch.settled_at FROM batch_range JOIN batch ON batch.number = batch_range.batch
    WHERE batch_range.tab = signup.tab AND batch_range.upto >= signup.position
    ORDER BY batch_range.upto LIMIT 1
  ) AS writtenAt
  FROM signup JOIN tab ON tab.id = signup.tab`

/** Added by one statement, a signup costs a quarter less than by its own. */
export const signupsAtOnce = 32

function addSignups(count: number): string {
  const row = '(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)'
  return `INSERT INTO signup
            (position, id, tab, received_at, email, source, name, tags, metadata, is_ignored)
          VALUES ${Array<string>(count).fill(row).join(', ')}`
}

/** Every statement that runs per request, per batch or per call; a test looks at their query plans. */
export const statements = {
  tab: 'SELECT id, name FROM tab WHERE key = ?',
  countTabs: 'SELECT count(*) AS count FROM tab',
  countTabsOpenedBy: `SELECT count(*) AS count FROM tab
                      WHERE opened_by = ?1 AND opened_at > ?2 AND opened_at <= ?3`,
  addTab: 'INSERT INTO tab (key, name, opened_at, opened_by) VALUES (?, ?, ?, ?) RETURNING id',
  forgetOpeners: 'UPDATE tab SET opened_by = NULL WHERE opened_by IS NOT NULL AND opened_at <= ?',
  nameTab: 'UPDATE tab SET key = ?, name = ? WHERE id = ?',
  // Before the signups of ?1 are moved to ?2: what is a duplicate only in both together.
  ignoreDuplicates: `UPDATE signup SET is_ignored = 1
                     WHERE tab IN (?1, ?2) AND position >= (SELECT min(position) FROM signup WHERE tab = ?1)
                       AND EXISTS (
                         SELECT 1 FROM signup AS earlier
                         WHERE earlier.tab IN (?1, ?2) AND lower(earlier.email) = lower(signup.email)
                           AND earlier.position < signup.position)`,
  moveSignups: 'UPDATE signup SET tab = ?2 WHERE tab = ?1',
  deleteTab: 'DELETE FROM tab WHERE id = ?',
  lastPosition: "SELECT seq AS position FROM sqlite_sequence WHERE name = 'signup'",
  addSignup: addSignups(1),
  addSignups: addSignups(signupsAtOnce),
  sameAddress: 'SELECT 1 FROM signup WHERE tab = ? AND lower(email) = lower(?) LIMIT 1',
  findSignup: `${status} WHERE signup.id = ?`,
  signupsBetween: `${status} WHERE signup.position BETWEEN ? AND ? ORDER BY signup.position`,
  idempotencyKey: `SELECT fingerprint, first_position AS first, last_position AS last, refused
                   FROM idempotency_key WHERE space = ? AND key = ?`,
  addIdempotencyKey: `INSERT INTO idempotency_key
                        (space, key, fingerprint, first_position, last_position, refused, stored_at)
                      VALUES (?, ?, ?, ?, ?, ?, ?)`,
  deleteIdempotencyKeys: `DELETE FROM idempotency_key WHERE (space, key) IN (
                            SELECT space, key FROM idempotency_key WHERE stored_at < ?
                            ORDER BY stored_at LIMIT ?)`,
  usedToken: 'SELECT 1 FROM used_token WHERE digest = ?',
  addUsedToken: 'INSERT INTO used_token (digest, stored_at) VALUES (?, ?)',
  deleteUsedTokens: `DELETE FROM used_token WHERE digest IN (
                       SELECT digest FROM used_token WHERE stored_at < ?
                       ORDER BY stored_at LIMIT ?)`,
  countBacklog: `SELECT coalesce(sum(
                   (SELECT count(*) FROM signup WHERE tab = tab.id AND position > tab.written_to)
                 ), 0) AS backlog FROM tab`,
  pendingTabs: `SELECT id, name, written_to AS writtenTo, (
                  SELECT position FROM signup WHERE tab = tab.id AND position > tab.written_to
                  ORDER BY position LIMIT 1
                ) AS oldest
                FROM tab WHERE oldest IS NOT NULL ORDER BY oldest`,
  firstWaiting: `SELECT tab.name AS name, signup.received_at AS receivedAt
                 FROM tab JOIN signup ON signup.position = (
                   SELECT position FROM signup WHERE tab = tab.id AND position > tab.written_to
                   ORDER BY position LIMIT 1
                 )`,
  lastSettled: `SELECT settled_at AS at FROM batch WHERE settled_at IS NOT NULL
                ORDER BY number DESC LIMIT 1`,
  signupsOfTab: `SELECT position, id, received_at AS receivedAt, email, source, name, tags, metadata,
                   is_ignored AS isIgnored,
                   octet_length(email) + octet_length(source) + octet_length(name)
                   + octet_length(tags) + octet_length(metadata) AS textBytes
                 FROM signup WHERE tab = ? AND position > ? AND position <= ? ORDER BY position LIMIT ?`,
  addBatch: 'INSERT INTO batch (digest, signups) VALUES (?, ?) RETURNING number',
  addRange: 'INSERT INTO batch_range (tab, upto, after, batch) VALUES (?, ?, ?, ?)',
  addMarker: 'INSERT INTO marker (id, batch) VALUES (?, ?)',
  frozenBatch: `SELECT number, digest, marker.id AS marker
                FROM batch JOIN marker ON marker.batch = batch.number WHERE settled_at IS NULL`,
  rangesOfBatch: `SELECT tab, tab.name AS name, after, upto
                  FROM batch_range JOIN tab ON tab.id = batch_range.tab WHERE batch = ? ORDER BY tab`,
  settleBatch: `UPDATE batch SET settled_at = ? WHERE number = ? AND settled_at IS NULL
                RETURNING signups`,
  moveCursor: `UPDATE tab SET written_to = (
                 SELECT upto FROM batch_range WHERE batch = ?1 AND batch_range.tab = tab.id
               ) WHERE id IN (SELECT tab FROM batch_range WHERE batch = ?1)`,
  deleteRanges: 'DELETE FROM batch_range WHERE batch = ?',
  deleteBatch: 'DELETE FROM batch WHERE number = ? AND settled_at IS NULL',
  endMarker: 'UPDATE marker SET is_ended = 1 WHERE batch = ?',
  changeMarker: 'UPDATE marker SET id = ? WHERE batch = ?',
  markFound: 'UPDATE marker SET is_found = 1 WHERE batch = ?',
  ripenMarker: 'UPDATE marker SET ripe_at = ? WHERE id = ? AND is_ended AND ripe_at IS NULL',
  endedMarkers: `SELECT id, is_found AS isFound, ripe_at AS ripeAt
                 FROM marker WHERE is_ended ORDER BY batch`,
  countMarkers: 'SELECT count(*) AS count FROM marker',
  deleteMarker: 'DELETE FROM marker WHERE id = ?',
  addCall: 'INSERT INTO provider_call (at) VALUES (?)',
  deleteCalls: 'DELETE FROM provider_call WHERE at < ?',
  callsSince: 'SELECT at FROM provider_call WHERE at >= ? ORDER BY at',
  property: 'SELECT value FROM property WHERE name = ?',
  setProperty: `INSERT INTO property (name, value) VALUES (?, ?)
                ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
} as const
