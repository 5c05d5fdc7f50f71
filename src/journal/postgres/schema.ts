/**
 * The journal's tables in PostgreSQL, as a list of migrations: `rollcall.version` says how many have run.
 * Never edit a migration that was released; add a new one. Each statement can run twice, because some
 * databases cannot roll back changes of tables. A migration removes nothing that the version before it
 * uses: instances of that version go on meanwhile.
 *
 * Times are milliseconds since the Unix epoch. There are no foreign keys, because each would cost a look
 * and a lock for every signup.
 */
export const migrations: readonly string[] = [
  `
  -- One row. Every transaction that adds signups or tabs locks it first, so that positions come in the
  -- order of commits.
  CREATE TABLE IF NOT EXISTS rollcall.head (
    only_row boolean PRIMARY KEY CHECK (only_row),
    position bigint  NOT NULL, -- of the last signup
    tab      integer NOT NULL, -- the highest id that a tab has had
    -- Grows when somebody looks for an outcome, so that this transaction has something to write.
    looks    bigint  NOT NULL DEFAULT 0,
    -- The code of the journal that was moved here after the tables were made; else empty.
    journal  text    NOT NULL DEFAULT ''
  );
  INSERT INTO rollcall.head (only_row, position, tab) VALUES (true, 0, 0) ON CONFLICT DO NOTHING;

  -- The secret with which addresses and idempotency keys are hashed: 64 hexadecimal digits.
  CREATE TABLE IF NOT EXISTS rollcall.secret (
    only_row boolean PRIMARY KEY CHECK (only_row),
    value    text    NOT NULL
  );

  -- A stream of signups with a spreadsheet of its own. Every transaction that changes batches, markers,
  -- facts, tombstones or stored signups locks its row first.
  CREATE TABLE IF NOT EXISTS rollcall.site (
    id              integer PRIMARY KEY,
    name            text    NOT NULL UNIQUE,
    code            text    NOT NULL, -- random, so that markers of different journals differ
    marker_base     bigint  NOT NULL,
    -- The running time, and the process that noted it last.
    running_ms      bigint  NOT NULL DEFAULT 0,
    running_by      text    NOT NULL DEFAULT '',
    last_settled_at bigint  NOT NULL DEFAULT 0
  );

  -- Who delivers for a site, and until when, by the clock of the database.
  CREATE TABLE IF NOT EXISTS rollcall.lease (
    site       integer     PRIMARY KEY,
    holder     text        NOT NULL,
    term       bigint      NOT NULL, -- grows with each holder
    expires_at timestamptz NOT NULL
  );

  -- Small facts that delivery notes.
  CREATE TABLE IF NOT EXISTS rollcall.fact (
    site  integer NOT NULL,
    name  text    NOT NULL,
    value text    NOT NULL,
    PRIMARY KEY (site, name)
  );

  CREATE TABLE IF NOT EXISTS rollcall.tab (
    id        integer PRIMARY KEY,
    site      integer NOT NULL,
    key       text    NOT NULL, -- empty: the default tab, until it is resolved
    name      text    NOT NULL,
    accepted  bigint  NOT NULL DEFAULT 0, -- how many signups it has
    opened_at bigint  NOT NULL,
    opened_by text, -- a digest of the client's address, for an hour; null when the tab counts for no client
    UNIQUE (site, key)
  );
  CREATE INDEX IF NOT EXISTS tab_by_opener ON rollcall.tab (site, opened_by, opened_at)
    WHERE opened_by IS NOT NULL;

  -- How far a tab is delivered. Not in its own row, so that intake and delivery never wait for one another.
  CREATE TABLE IF NOT EXISTS rollcall.progress (
    tab        integer PRIMARY KEY,
    written    bigint  NOT NULL DEFAULT 0, -- how many of its signups are in the spreadsheet
    -- Delivery's cursor: every signup of the tab up to this position is in the spreadsheet.
    written_to bigint  NOT NULL DEFAULT 0
  );

  -- No signup is ever deleted.
  CREATE TABLE IF NOT EXISTS rollcall.signup (
    position    bigint   PRIMARY KEY,
    id          uuid     NOT NULL UNIQUE,
    tab         integer  NOT NULL,
    received_at bigint   NOT NULL,
    email       text     NOT NULL,
    source      text     NOT NULL,
    name        text     NOT NULL,
    tags        text     NOT NULL, -- a JSON array, or '' when there are none
    metadata    text     NOT NULL, -- a JSON object, or ''
    -- 1: a duplicate that gets no row. 2: it has a row already, as a comparison found out.
    -- The ranges of batches include both.
    is_ignored  smallint NOT NULL
  );
  CREATE INDEX IF NOT EXISTS signup_by_tab ON rollcall.signup (tab, position);
  -- An erased signup has no address.
  CREATE INDEX IF NOT EXISTS signup_erased ON rollcall.signup (tab, position) WHERE email = '';

  -- Hashes of keys and fingerprints.
  CREATE TABLE IF NOT EXISTS rollcall.idempotency_key (
    site           integer NOT NULL,
    key            text    NOT NULL,
    fingerprint    text    NOT NULL,
    -- The signups of one request have consecutive positions.
    first_position bigint  NOT NULL,
    last_position  bigint  NOT NULL,
    refused        text    NOT NULL, -- a JSON array: the indexes of refused signups; or ''
    stored_at      bigint  NOT NULL,
    PRIMARY KEY (site, key)
  );
  CREATE INDEX IF NOT EXISTS idempotency_key_by_time ON rollcall.idempotency_key (stored_at);

  -- The challenge tokens of stored signups, of all sites.
  CREATE TABLE IF NOT EXISTS rollcall.used_token (
    digest    text   PRIMARY KEY,
    stored_at bigint NOT NULL
  );
  CREATE INDEX IF NOT EXISTS used_token_by_time ON rollcall.used_token (stored_at);

  -- How many signups came in each hour, by their own time, and how many were written.
  CREATE TABLE IF NOT EXISTS rollcall.hour_accepted (
    site  integer NOT NULL,
    hour  integer NOT NULL, -- whole hours since the Unix epoch
    count bigint  NOT NULL,
    PRIMARY KEY (site, hour)
  );
  CREATE TABLE IF NOT EXISTS rollcall.hour_written (
    site  integer NOT NULL,
    hour  integer NOT NULL,
    count bigint  NOT NULL,
    PRIMARY KEY (site, hour)
  );

  -- Numbers that are never given twice.
  CREATE TABLE IF NOT EXISTS rollcall.counter (
    name  text   PRIMARY KEY,
    value bigint NOT NULL
  );
  INSERT INTO rollcall.counter (name, value) VALUES ('batch', 0) ON CONFLICT DO NOTHING;

  CREATE TABLE IF NOT EXISTS rollcall.batch (
    number      bigint  PRIMARY KEY,
    site        integer NOT NULL,
    digest      text    NOT NULL,
    settled_at  bigint, -- null while the batch is frozen; released batches are deleted
    spreadsheet text,   -- the one in which it was settled
    -- Its signups have no cells any more, but for those that a later batch has delivered once more.
    is_expired  boolean NOT NULL DEFAULT false
  );
  -- A site has at most one frozen batch.
  CREATE UNIQUE INDEX IF NOT EXISTS batch_frozen ON rollcall.batch (site) WHERE settled_at IS NULL;
  CREATE INDEX IF NOT EXISTS batch_unexpired ON rollcall.batch (site, settled_at, number)
    WHERE NOT is_expired;

  -- The signups of one tab in a batch: those with after < position <= upto.
  CREATE TABLE IF NOT EXISTS rollcall.batch_range (
    tab     integer NOT NULL,
    upto    bigint  NOT NULL,
    after   bigint  NOT NULL,
    batch   bigint  NOT NULL,
    signups integer NOT NULL, -- how many
    PRIMARY KEY (tab, upto)
  );
  CREATE INDEX IF NOT EXISTS batch_range_by_batch ON rollcall.batch_range (batch);

  -- Markers that may still stand in the spreadsheet.
  CREATE TABLE IF NOT EXISTS rollcall.marker (
    site     integer NOT NULL,
    id       bigint  NOT NULL,
    batch    bigint  NOT NULL, -- negative: of a journal that this one has replaced
    -- A writer that did not freeze the batch has found it, and may send it too.
    is_found boolean NOT NULL DEFAULT false,
    is_ended boolean NOT NULL DEFAULT false,
    -- The running time from which it may be pruned; null until somebody notes a life for it.
    ripe_at  bigint,
    PRIMARY KEY (site, id),
    UNIQUE (site, batch)
  );

  -- Signups that wait to be delivered once more, whatever the cursor of their tab says.
  CREATE TABLE IF NOT EXISTS rollcall.redelivery (
    tab       integer NOT NULL,
    position  bigint  NOT NULL,
    queued_at bigint  NOT NULL,
    batch     bigint, -- the frozen batch that holds it, or null
    PRIMARY KEY (tab, position)
  );
  CREATE INDEX IF NOT EXISTS redelivery_by_batch ON rollcall.redelivery (batch)
    WHERE batch IS NOT NULL;

  -- The settled batches that delivered a signup once more.
  CREATE TABLE IF NOT EXISTS rollcall.redelivered (
    position bigint NOT NULL,
    batch    bigint NOT NULL,
    PRIMARY KEY (position, batch)
  );
  CREATE INDEX IF NOT EXISTS redelivered_by_batch ON rollcall.redelivered (batch);

  -- People who were forgotten.
  CREATE TABLE IF NOT EXISTS rollcall.tombstone (
    site integer NOT NULL,
    hash text    NOT NULL, -- of the address, keyed with the secret
    upto bigint  NOT NULL, -- signups of the address with a later position are new ones
    PRIMARY KEY (site, hash)
  );

  -- Rows of forgotten people that have to go from the spreadsheet. While the signup has its cells, it is
  -- in the frozen batch.
  CREATE TABLE IF NOT EXISTS rollcall.removal (
    position bigint PRIMARY KEY,
    email    text   NOT NULL
  );

  -- Addresses of signups whose cells have expired, while duplicates are ignored.
  CREATE TABLE IF NOT EXISTS rollcall.kept_address (
    tab  integer NOT NULL,
    hash text    NOT NULL, -- keyed with the secret
    PRIMARY KEY (tab, hash)
  );

  -- Accounts at providers. To reserve a call, a transaction locks the row of the account first.
  CREATE TABLE IF NOT EXISTS rollcall.account (
    name   text   PRIMARY KEY,
    number bigint NOT NULL -- of the last call
  );

  -- Calls to providers in the last day, to keep their quotas.
  CREATE TABLE IF NOT EXISTS rollcall.provider_call (
    account text    NOT NULL,
    number  bigint  NOT NULL, -- from 1, in the order of the calls
    at      bigint  NOT NULL,
    is_sure boolean NOT NULL, -- the clock of the process agreed with the wall clock
    PRIMARY KEY (account, number)
  );
  `,
  `
  -- A JSON object of the values of the site's own fields, by name, or ''.
  ALTER TABLE rollcall.signup ADD COLUMN IF NOT EXISTS fields text NOT NULL DEFAULT '';
  `,
]

/**
 * The index that finds duplicates. It exists only while duplicates are ignored, because it makes every
 * append slower. Letter case counts for ASCII only, which is enough for our addresses.
 */
export const addressIndex = `CREATE INDEX IF NOT EXISTS signup_by_address
  ON rollcall.signup (lower(email COLLATE "C"), (tab + 0))`
