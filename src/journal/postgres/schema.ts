import { firstRows } from '../tables/layout.ts'
import { layoutFor, type TableMaker } from '../tables/make-tables.ts'

/** The types of columns by their kind. */
export const types = {
  ...{ number: 'bigint', integer: 'integer', status: 'smallint', flag: 'boolean' },
  ...{ text: 'text', id: 'uuid' },
} as const

/**
 * Tables that only this engine has. Instances share them, where processes of one machine share a file.
 */
const ownTables = `
  -- One row. Every transaction that adds signups or tabs locks it first, so that positions come in the
  -- order of commits.
  CREATE TABLE IF NOT EXISTS head (
    only_row boolean PRIMARY KEY CHECK (only_row),
    position bigint  NOT NULL, -- of the last signup
    -- Grows when somebody looks for an outcome, so that this transaction has something to write.
    looks    bigint  NOT NULL DEFAULT 0
  );
  INSERT INTO head (only_row, position) VALUES (true, 0) ON CONFLICT DO NOTHING;

  -- The secret with which addresses and idempotency keys are hashed: 64 hexadecimal digits.
  CREATE TABLE IF NOT EXISTS secret (
    only_row boolean PRIMARY KEY CHECK (only_row),
    value    text    NOT NULL
  );

  -- Who delivers for a site, and until when, by the clock of the database.
  CREATE TABLE IF NOT EXISTS lease (
    site       integer     PRIMARY KEY,
    holder     text        NOT NULL,
    term       bigint      NOT NULL, -- grows with each holder
    expires_at timestamptz NOT NULL
  );

  -- Accounts at providers. To reserve a call, a transaction locks the row of the account first.
  CREATE TABLE IF NOT EXISTS account (
    name   text   PRIMARY KEY,
    number bigint NOT NULL -- of the last call
  )`

const engine: TableMaker = {
  typeOf: (kind) => types[kind],
  literal: String,
  ifMissing: 'IF NOT EXISTS ',
}

/**
 * The statements that make the tables of the present layout. Each can run twice, because some databases
 * cannot roll back changes of tables.
 */
export const layoutSql = [ownTables, ...layoutFor(engine), firstRows].join(';\n')
