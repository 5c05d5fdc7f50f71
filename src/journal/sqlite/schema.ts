/**
 * The journal's tables, as a list of migrations: `PRAGMA user_version` says how many have run. Never
 * edit a migration that was released; add a new one.
 */
export const migrations: readonly string[] = [
  `
  -- A stream of signups with a spreadsheet of its own.
  CREATE TABLE site (
    id              INTEGER PRIMARY KEY,
    name            TEXT    NOT NULL UNIQUE,
    -- Random, so that markers of different journals differ.
    code            TEXT    NOT NULL,
    marker_base     INTEGER NOT NULL,
    -- The running time, and the process that noted it last.
    running_ms      INTEGER NOT NULL DEFAULT 0,
    running_by      TEXT    NOT NULL DEFAULT '',
    last_settled_at INTEGER NOT NULL DEFAULT 0
  ) STRICT;

  -- Small facts that delivery notes.
  CREATE TABLE fact (
    site  INTEGER NOT NULL REFERENCES site (id),
    name  TEXT    NOT NULL,
    value TEXT    NOT NULL,
    PRIMARY KEY (site, name)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE tab (
    id         INTEGER PRIMARY KEY,
    site       INTEGER NOT NULL REFERENCES site (id),
    key        TEXT    NOT NULL, -- empty: the default tab, until it is resolved
    name       TEXT    NOT NULL,
    -- How many signups it has, and how many of these are in the spreadsheet.
    accepted   INTEGER NOT NULL DEFAULT 0,
    written    INTEGER NOT NULL DEFAULT 0,
    -- Delivery's cursor: every signup of the tab up to this position is in the spreadsheet.
    written_to INTEGER NOT NULL DEFAULT 0,
    opened_at  INTEGER NOT NULL,
    opened_by  TEXT, -- a digest of the client's address, for an hour; null when the tab counts for no client
    UNIQUE (site, key)
  ) STRICT;
  CREATE INDEX tab_by_opener ON tab (site, opened_by, opened_at) WHERE opened_by IS NOT NULL;

  -- No signup is ever deleted, so the largest position is the last one.
  CREATE TABLE signup (
    position    INTEGER PRIMARY KEY,
    id          BLOB    NOT NULL UNIQUE, -- the 16 bytes of a UUID
    tab         INTEGER NOT NULL REFERENCES tab (id),
    received_at INTEGER NOT NULL,
    email       TEXT    NOT NULL,
    source      TEXT    NOT NULL,
    name        TEXT    NOT NULL,
    tags        TEXT    NOT NULL, -- a JSON array, or '' when there are none
    metadata    TEXT    NOT NULL, -- a JSON object, or ''
    -- 1: a duplicate that gets no row. 2: it has a row already, as a restored journal found out.
    -- The ranges of batches include both.
    is_ignored  INTEGER NOT NULL
  ) STRICT;
  -- An index entry ends with the rowid, so this one serves (tab, position).
  CREATE INDEX signup_by_tab ON signup (tab);

  CREATE TABLE idempotency_key (
    site           INTEGER NOT NULL REFERENCES site (id),
    space          TEXT    NOT NULL, -- the name space that the key belongs to
    key            TEXT    NOT NULL,
    fingerprint    TEXT    NOT NULL,
    -- The signups of one request have consecutive positions, because an append is one transaction.
    first_position INTEGER NOT NULL,
    last_position  INTEGER NOT NULL,
    refused        TEXT    NOT NULL, -- a JSON array: the indexes of refused signups; or ''
    stored_at      INTEGER NOT NULL,
    PRIMARY KEY (site, space, key)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX idempotency_key_by_time ON idempotency_key (stored_at);

  -- The challenge tokens of stored signups, of all sites.
  CREATE TABLE used_token (
    digest    TEXT    PRIMARY KEY,
    stored_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX used_token_by_time ON used_token (stored_at);

  CREATE TABLE batch (
    number     INTEGER PRIMARY KEY AUTOINCREMENT, -- never uses a number twice
    site       INTEGER NOT NULL REFERENCES site (id),
    digest     TEXT    NOT NULL,
    -- Null while the batch is frozen. Released batches are deleted.
    settled_at INTEGER
  ) STRICT;
  -- A site has at most one frozen batch.
  CREATE UNIQUE INDEX batch_frozen ON batch (site) WHERE settled_at IS NULL;

  -- The signups of one tab in a batch: those with after < position <= upto.
  CREATE TABLE batch_range (
    tab     INTEGER NOT NULL REFERENCES tab (id),
    upto    INTEGER NOT NULL,
    after   INTEGER NOT NULL,
    batch   INTEGER NOT NULL REFERENCES batch (number),
    signups INTEGER NOT NULL, -- how many
    PRIMARY KEY (tab, upto)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX batch_range_by_batch ON batch_range (batch);

  -- Markers that may still stand in the spreadsheet.
  CREATE TABLE marker (
    site     INTEGER NOT NULL REFERENCES site (id),
    id       INTEGER NOT NULL,
    batch    INTEGER NOT NULL UNIQUE,
    -- 1: a writer that did not freeze the batch has found it, and may send it too.
    is_found INTEGER NOT NULL DEFAULT 0,
    is_ended INTEGER NOT NULL DEFAULT 0,
    -- The running time from which it may be pruned; null until somebody notes a life for it.
    ripe_at  INTEGER,
    PRIMARY KEY (site, id)
  ) STRICT, WITHOUT ROWID;

  -- Calls to providers in the last day, to keep their quotas.
  CREATE TABLE provider_call (
    account TEXT    NOT NULL,
    number  INTEGER NOT NULL, -- from 1, in the order of the calls
    at      INTEGER NOT NULL,
    is_sure INTEGER NOT NULL, -- 1: the clock of the process agreed with the wall clock
    PRIMARY KEY (account, number)
  ) STRICT, WITHOUT ROWID;
  `,
  `
  -- How many signups came and how many were written in each hour, so that figures cost the same
  -- however many signups there are.
  CREATE TABLE hour_count (
    site     INTEGER NOT NULL REFERENCES site (id),
    hour     INTEGER NOT NULL, -- whole hours since the Unix epoch
    accepted INTEGER NOT NULL, -- by the time of the signup
    written  INTEGER NOT NULL, -- by the time when the batch was settled
    PRIMARY KEY (site, hour)
  ) STRICT, WITHOUT ROWID;
  INSERT INTO hour_count
    SELECT site, hour, sum(accepted), sum(written) FROM (
      SELECT tab.site AS site, signup.received_at / 3600000 AS hour, count(*) AS accepted, 0 AS written
      FROM signup JOIN tab ON tab.id = signup.tab GROUP BY 1, 2
      UNION ALL
      SELECT batch.site, batch.settled_at / 3600000, 0, sum(batch_range.signups)
      FROM batch JOIN batch_range ON batch_range.batch = batch.number
      WHERE batch.settled_at IS NOT NULL GROUP BY 1, 2
    ) GROUP BY site, hour;
  `,
  `
  -- The spreadsheet in which the batch was settled; null when an older version settled it.
  ALTER TABLE batch ADD COLUMN spreadsheet TEXT;

  -- Signups that wait to be delivered once more, whatever the cursor of their tab says.
  CREATE TABLE redelivery (
    tab       INTEGER NOT NULL REFERENCES tab (id),
    position  INTEGER NOT NULL,
    queued_at INTEGER NOT NULL,
    batch     INTEGER REFERENCES batch (number), -- the frozen batch that holds it, or null
    PRIMARY KEY (tab, position)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX redelivery_by_batch ON redelivery (batch) WHERE batch IS NOT NULL;

  -- The settled batches that delivered a signup once more.
  CREATE TABLE redelivered (
    position INTEGER NOT NULL,
    batch    INTEGER NOT NULL,
    PRIMARY KEY (position, batch)
  ) STRICT, WITHOUT ROWID;
  `,
  `
  -- People who were forgotten.
  CREATE TABLE tombstone (
    site INTEGER NOT NULL REFERENCES site (id),
    hash TEXT    NOT NULL, -- of the address, keyed with the secret
    upto INTEGER NOT NULL, -- signups of the address with a later position are new ones
    PRIMARY KEY (site, hash)
  ) STRICT, WITHOUT ROWID;

  -- Rows of forgotten people that have to go from the spreadsheet. While the signup has its cells, it is
  -- in the frozen batch.
  CREATE TABLE removal (
    position INTEGER PRIMARY KEY REFERENCES signup (position),
    email    TEXT    NOT NULL
  ) STRICT;

  -- An erased signup has no address. As above, an entry ends with the position.
  CREATE INDEX signup_erased ON signup (tab) WHERE email = '';

  -- From this version on, idempotency_key has hashes of keys and fingerprints, and empty spaces.
  `,
  `
  -- 1: its signups have no cells any more, but for those that a later batch has delivered once more.
  ALTER TABLE batch ADD COLUMN is_expired INTEGER NOT NULL DEFAULT 0;
  CREATE INDEX batch_unexpired ON batch (site, settled_at) WHERE is_expired = 0;
  CREATE INDEX redelivered_by_batch ON redelivered (batch);

  -- Addresses of signups whose cells have expired, while duplicates are ignored.
  CREATE TABLE kept_address (
    tab  INTEGER NOT NULL REFERENCES tab (id),
    hash TEXT    NOT NULL, -- keyed with the secret
    PRIMARY KEY (tab, hash)
  ) STRICT, WITHOUT ROWID;
  `,
  `
  -- A JSON object of the values of the site's own fields, by name, or ''.
  ALTER TABLE signup ADD COLUMN fields TEXT NOT NULL DEFAULT '';
  `,
]

/**
 * The index that finds duplicates. It exists only while duplicates are ignored, because it makes every
 * append slower. SQLite's `lower` knows only ASCII, which is enough for our addresses.
 */
export const addressIndex = {
  create: 'CREATE INDEX IF NOT EXISTS signup_by_address ON signup (tab, lower(email))',
  find: "SELECT 1 FROM sqlite_schema WHERE name = 'signup_by_address'",
  rebuild: 'REINDEX signup_by_address',
  drop: 'DROP INDEX IF EXISTS signup_by_address',
} as const
