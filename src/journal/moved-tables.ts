/** What a journal has when it moves from one engine to another one. */
export interface MovedTable {
  readonly name: string
  readonly columns: Readonly<Record<string, Kind>>
  /** The columns of its primary key. */
  readonly key: readonly string[]
}

/** `id` is the text of a UUID. Every kind but `id` and `boolean` may be null. */
export type Kind = 'number' | 'text' | 'id' | 'boolean'

/** One value for each column, in their order. */
export type MovedRow = readonly (number | string | boolean | null)[]

const number = 'number'
const text = 'text'
const boolean = 'boolean'

export const signupTable: MovedTable = {
  name: 'signup',
  columns: {
    ...{ position: number, id: 'id', tab: number, received_at: number, email: text },
    ...{ source: text, name: text, tags: text, metadata: text, fields: text },
    is_ignored: number,
  },
  key: ['position'],
}

/** All that a move copies as it is. Small tables first, the signups last. */
export const movedTables: readonly MovedTable[] = [
  {
    name: 'site',
    columns: {
      ...{ id: number, name: text, code: text, marker_base: number },
      ...{ running_ms: number, running_by: text, last_settled_at: number },
    },
    key: ['id'],
  },
  { name: 'fact', columns: { site: number, name: text, value: text }, key: ['site', 'name'] },
  {
    name: 'tab',
    columns: {
      ...{ id: number, site: number, key: text, name: text },
      ...{ accepted: number, opened_at: number, opened_by: text },
    },
    key: ['id'],
  },
  { name: 'progress', columns: { tab: number, written: number, written_to: number }, key: ['tab'] },
  {
    name: 'hour_accepted',
    columns: { site: number, hour: number, count: number },
    key: ['site', 'hour'],
  },
  {
    name: 'hour_written',
    columns: { site: number, hour: number, count: number },
    key: ['site', 'hour'],
  },
  {
    name: 'batch',
    columns: {
      ...{ number, site: number, digest: text },
      ...{ settled_at: number, spreadsheet: text, is_expired: boolean },
    },
    key: ['number'],
  },
  {
    name: 'batch_range',
    columns: { tab: number, upto: number, after: number, batch: number, signups: number },
    key: ['tab', 'upto'],
  },
  {
    name: 'marker',
    columns: {
      ...{ site: number, id: number, batch: number },
      ...{ is_found: boolean, is_ended: boolean, ripe_at: number },
    },
    key: ['site', 'id'],
  },
  {
    name: 'redelivery',
    columns: { tab: number, position: number, queued_at: number, batch: number },
    key: ['tab', 'position'],
  },
  {
    name: 'redelivered',
    columns: { position: number, batch: number },
    key: ['position', 'batch'],
  },
  { name: 'tombstone', columns: { site: number, hash: text, upto: number }, key: ['site', 'hash'] },
  { name: 'removal', columns: { position: number, email: text }, key: ['position'] },
  { name: 'kept_address', columns: { tab: number, hash: text }, key: ['tab', 'hash'] },
  {
    name: 'provider_call',
    columns: { account: text, number, at: number, is_sure: boolean },
    key: ['account', 'number'],
  },
  {
    name: 'idempotency_key',
    columns: {
      ...{ site: number, key: text, fingerprint: text },
      ...{ first_position: number, last_position: number, refused: text, stored_at: number },
    },
    key: ['site', 'key'],
  },
  { name: 'used_token', columns: { digest: text, stored_at: number }, key: ['digest'] },
  signupTable,
]

/** How many rows are read or written at once. */
export const movedRowsAtOnce = 1_000

/** The values of the key in a row, to read on behind it. */
export function keyOf({ columns, key }: MovedTable, row: MovedRow): MovedRow {
  const names = Object.keys(columns)
  return key.map((name) => row[names.indexOf(name)] ?? null)
}
