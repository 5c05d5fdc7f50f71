/**
 * The journal's tables, as numbered migrations: `PRAGMA user_version` says how many have run.
 * A migration that was released is never edited; a change is a new one.
 */
export const migrations: readonly string[] = [
  `
  -- A stream of signups with a spreadsheet of its own.
  CREATE TABLE site (
    id              INTEGER PRIMARY KEY,
    name            TEXT    NOT NULL UNIQUE,
    -- Random: tells the markers of this journal from those of others.
    code            TEXT    NOT NULL,
    marker_base     INTEGER NOT NULL,
    -- How long delivery has run, and who noted it last.
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
    opened_by  TEXT, -- a digest; null when it is not counted, or not any more
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
    -- 1: a duplicate that gets no row. It is in the ranges of batches like any other.
    is_ignored  INTEGER NOT NULL
  ) STRICT;
  -- An index entry ends with the rowid, so this one serves (tab, position).
  CREATE INDEX signup_by_tab ON signup (tab);

  CREATE TABLE idempotency_key (
    site           INTEGER NOT NULL REFERENCES site (id),
    space          TEXT    NOT NULL, -- the name space that the key belongs to
    key            TEXT    NOT NULL,
    fingerprint    TEXT    NOT NULL,
    -- One request's signups are neighbours: an append is one transaction.
    first_position INTEGER NOT NULL,
    last_position  INTEGER NOT NULL,
    refused        TEXT    NOT NULL, -- a JSON array of places in the request, or ''
    stored_at      INTEGER NOT NULL,
    PRIMARY KEY (site, space, key)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX idempotency_key_by_time ON idempotency_key (stored_at);

  -- Challenge tokens that signups were stored with, of all sites.
  CREATE TABLE used_token (
    digest    TEXT    PRIMARY KEY,
    stored_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX used_token_by_time ON used_token (stored_at);

  CREATE TABLE batch (
    number     INTEGER PRIMARY KEY AUTOINCREMENT, -- so that no number is used twice
    site       INTEGER NOT NULL REFERENCES site (id),
    digest     TEXT    NOT NULL,
    -- Null while the batch is frozen. Released batches are deleted.
    settled_at INTEGER
  ) STRICT;
  -- One frozen batch a site.
  CREATE UNIQUE INDEX batch_frozen ON batch (site) WHERE settled_at IS NULL;

  -- Which signups a batch holds: those of the tab with after < position <= upto.
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
    -- 1: a writer that did not freeze the batch has found it frozen, and may send it too.
    is_found INTEGER NOT NULL DEFAULT 0,
    is_ended INTEGER NOT NULL DEFAULT 0,
    -- The running time from which it may be pruned; null until that is known.
    ripe_at  INTEGER,
    PRIMARY KEY (site, id)
  ) STRICT, WITHOUT ROWID;

  -- Calls to the provider in the last day, for pacing.
  CREATE TABLE provider_call (
    account TEXT    NOT NULL,
    number  INTEGER NOT NULL, -- from 1, in the order of the calls
    at      INTEGER NOT NULL,
    is_sure INTEGER NOT NULL, -- 1: who made the call measured by the wall clock
    PRIMARY KEY (account, number)
  ) STRICT, WITHOUT ROWID;
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
