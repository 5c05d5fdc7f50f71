/**
 * The tables of a journal, for both engines. Times are milliseconds since the Unix epoch. There are no
 * foreign keys, because each would cost a look for every signup.
 */

/** `id` is a UUID. `integer` and `status` are smaller numbers where the engine knows such. */
export type ColumnKind = 'number' | 'integer' | 'status' | 'text' | 'id' | 'flag'

export interface Column {
  readonly kind: ColumnKind
  /** What a new row has when nothing is given. */
  readonly initial?: number | boolean | string
  readonly isOptional?: true
}

export interface Index {
  readonly columns: readonly string[]
  readonly isUnique?: true
  /** Only rows for which this holds are in it. */
  readonly where?: string
}

export interface Table {
  readonly name: string
  readonly columns: Readonly<Record<string, Column>>
  /** The columns of its primary key. */
  readonly key: readonly string[]
  /** Columns that are unique together, besides the key. */
  readonly unique?: readonly string[]
  /** By name. */
  readonly indexes?: Readonly<Record<string, Index>>
}

const number = { kind: 'number' } as const
const integer = { kind: 'integer' } as const
const text = { kind: 'text' } as const
const count = { kind: 'number', initial: 0 } as const
const flag = { kind: 'flag', initial: false } as const
const optionalNumber = { kind: 'number', isOptional: true } as const
const optionalText = { kind: 'text', isOptional: true } as const

/** The names of the values of `row_status`, which says whether a signup is to get a row. */
export const rowStatus = {
  /** It gets one, or has one. */
  wanted: 0,
  /** It gets none: it is a duplicate, or was erased before it had one. The ranges of batches include it. */
  none: 1,
  /** It had one before a batch wrote it, as a comparison found out. The ranges of batches include it. */
  present: 2,
  /** It looks like spam: it gets none until it is released. It stays so when it is erased before. */
  held: 3,
} as const

/** Which signups are in an index of people, in SQL: those in quarantine, or all others. */
export function peopleWhere(which: 'listed' | 'held'): string {
  return `person IS NOT NULL AND ${isOf('', which)}`
}

/** Whether a signup is in quarantine, or is not, in SQL. @param signup what it is called, with a point behind it */
export function isOf(signup: string, which: 'listed' | 'held'): string {
  return `${signup}row_status ${which === 'held' ? '=' : '<>'} ${rowStatus.held}`
}

/** No signup is ever deleted. */
export const signupTable: Table = {
  name: 'signup',
  columns: {
    position: number,
    id: { kind: 'id' },
    tab: integer,
    received_at: number,
    email: text, // empty: it was erased
    source: text,
    name: text,
    tags: text, // a JSON array, or '' when there are none
    metadata: text, // a JSON object, or ''
    row_status: { kind: 'status' }, // of `rowStatus`
    fields: { kind: 'text', initial: '' }, // a JSON object of the values of the site's own fields, or ''
    confirmed_at: optionalNumber,
    // By the hash of the address (`personOf`); null where nothing asks for it (`people.ts`). It outlives the cells that
    // expire, while duplicates are ignored, at the first signup of the person in the tab.
    person: optionalText,
  },
  key: ['position'],
  unique: ['id'],
  indexes: {
    signup_by_tab: { columns: ['tab', 'position'] },
    signup_erased: { columns: ['tab', 'position'], where: `email = ''` },
    // Those that are held are apart, so that looks for duplicates do not meet them.
    signup_by_person: { columns: ['person', 'tab', 'position'], where: peopleWhere('listed') },
    signup_held_by_person: { columns: ['person', 'tab', 'position'], where: peopleWhere('held') },
  },
}

/** The names of the values of `pending.state`. */
export const besideState = {
  /** Can be confirmed. */
  pending: 0,
  /** Is in the list now. Has no cells. */
  confirmed: 1,
  /** Has no cells, and gets none. */
  over: 2,
  /** The same, until it would have expired: till then it takes its place as if it were pending. */
  declined: 3,
} as const

/** Whether a signup beside the list counts when others of its person are decided on, in SQL. */
export const isPlaced = `state IN (${besideState.pending}, ${besideState.declined})`

/** The names of the values of `message.stage`. */
export const messageStage = {
  /** Waits for `next_at`. */
  resting: 0,
  /** Waits for its turn. */
  ready: 1,
  /** Is being sent. */
  claimed: 2,
  sent: 3,
  failed: 4,
  /** Nobody is to get it any more. */
  dropped: 5,
} as const

/** Small tables first, the signups last. */
export const layout: readonly Table[] = [
  // A stream of signups with a spreadsheet of its own.
  {
    name: 'site',
    columns: {
      id: integer,
      name: text,
      code: text, // random, so that markers of different journals differ
      marker_base: number,
      running_ms: count, // the running time, and the process that noted it last
      running_by: { kind: 'text', initial: '' },
      last_settled_at: count,
    },
    key: ['id'],
    unique: ['name'],
  },
  // Small facts that delivery notes.
  { name: 'fact', columns: { site: integer, name: text, value: text }, key: ['site', 'name'] },
  {
    name: 'tab',
    columns: {
      id: integer,
      site: integer,
      key: text,
      name: text,
      accepted: count, // how many signups it has
      opened_at: number,
      opened_by: optionalText, // a digest of the client's address, for an hour; null when it counts for no client
    },
    key: ['id'],
    unique: ['site', 'key'],
    indexes: {
      tab_by_opener: {
        columns: ['site', 'opened_by', 'opened_at'],
        where: 'opened_by IS NOT NULL',
      },
    },
  },
  // Tabs that pending signups ask for, of whom asked, for an hour. They count as if the client had made them.
  {
    name: 'asked_tab',
    columns: {
      site: integer,
      asked_by: text, // a digest of the client's address
      key: text,
      asked_at: number,
    },
    key: ['site', 'asked_by', 'key'],
    indexes: { asked_tab_by_time: { columns: ['site', 'asked_at'] } },
  },
  // How far a tab is delivered. Not in its own row, so that intake and delivery never wait for one another.
  {
    name: 'progress',
    columns: {
      tab: integer,
      written: count, // how many of its signups are in the spreadsheet
      written_to: count, // the cursor: every signup of the tab up to this position is in the spreadsheet
      held: count, // how many of those that are written are held
    },
    key: ['tab'],
  },
  // All that is counted, by the time at which an hour or a day begins, and of all time: see `tally.ts`.
  {
    name: 'tally',
    columns: { site: integer, what: text, slot: number, name: text, count: number },
    key: ['site', 'what', 'slot', 'name'],
  },
  // Numbers that are never given twice.
  { name: 'counter', columns: { name: text, value: number }, key: ['name'] },
  {
    name: 'batch',
    columns: {
      number,
      site: integer,
      digest: text,
      settled_at: optionalNumber, // null while the batch is frozen; released batches are deleted
      spreadsheet: optionalText, // the one in which it was settled
      is_expired: flag, // its signups have no cells, but for those that a later batch has delivered once more
    },
    key: ['number'],
    indexes: {
      // A site has at most one frozen batch.
      batch_frozen: { columns: ['site'], isUnique: true, where: 'settled_at IS NULL' },
      batch_unexpired: { columns: ['site', 'settled_at', 'number'], where: 'NOT is_expired' },
    },
  },
  // The signups of one tab in a batch: those with after < position <= upto.
  {
    name: 'batch_range',
    columns: {
      ...{ tab: integer, upto: number, after: number, batch: number },
      signups: integer,
      held: count, // how many of them
    },
    key: ['tab', 'upto'],
    indexes: { batch_range_by_batch: { columns: ['batch'] } },
  },
  // Markers that may still stand in the spreadsheet.
  {
    name: 'marker',
    columns: {
      site: integer,
      id: number,
      batch: number, // negative: of a journal that this one has replaced
      is_found: flag, // a writer that did not freeze the batch has found it, and may send it too
      is_ended: flag,
      prunable_at: optionalNumber, // the running time from which it may be pruned; null until somebody says
    },
    key: ['site', 'id'],
    unique: ['site', 'batch'],
  },
  // Signups that wait to be delivered once more, whatever the cursor of their tab says.
  {
    name: 'redelivery',
    columns: {
      tab: integer,
      position: number,
      queued_at: number,
      is_first: flag, // the signup was released, and has had no row yet
      batch: optionalNumber, // the frozen batch that holds it
    },
    key: ['tab', 'position'],
    indexes: { redelivery_by_batch: { columns: ['batch'], where: 'batch IS NOT NULL' } },
  },
  // The settled batches that delivered a signup once more.
  {
    name: 'redelivered',
    columns: { position: number, batch: number },
    key: ['position', 'batch'],
    indexes: { redelivered_by_batch: { columns: ['batch'] } },
  },
  // People who were forgotten.
  {
    name: 'tombstone',
    columns: {
      site: integer,
      hash: text, // of the address, keyed with the secret
      upto: number, // signups of the address with a later position are new ones
    },
    key: ['site', 'hash'],
  },
  // Rows of forgotten people that have to go from the spreadsheet. While the signup has its cells, it is in
  // the frozen batch.
  {
    name: 'removal',
    columns: {
      position: number,
      email: text,
      is_leaving: flag, // its person has left by a link: it goes behind others
    },
    key: ['position'],
  },
  // Calls to providers in the last day, to keep their quotas.
  {
    name: 'provider_call',
    columns: {
      account: text,
      number, // from 1, in the order of the calls
      at: number,
      is_sure: { kind: 'flag' }, // the clock of the process agreed with the wall clock
      is_removal: flag,
    },
    key: ['account', 'number'],
  },
  // Hashes of idempotency keys and of fingerprints.
  {
    name: 'idempotency_key',
    columns: {
      site: integer,
      key: text,
      fingerprint: text,
      first_position: number, // the signups of one request have consecutive positions
      last_position: number,
      refused: text, // a JSON array: the indexes of refused signups; or ''
      stored_at: number,
    },
    key: ['site', 'key'],
    indexes: { idempotency_key_by_time: { columns: ['stored_at'] } },
  },
  // The challenge tokens of stored signups, of all sites.
  {
    name: 'used_token',
    columns: { digest: text, stored_at: number },
    key: ['digest'],
    indexes: { used_token_by_time: { columns: ['stored_at'] } },
  },
  // The signups in quarantine that have their cells.
  {
    name: 'held',
    columns: {
      site: integer,
      position: number,
      signals: text, // with commas between them
    },
    key: ['site', 'position'],
  },
  // Signups beside the list.
  {
    name: 'pending',
    columns: {
      number,
      id: { kind: 'id' },
      site: integer,
      person: text, // by the hash of the address (`personOf`); empty: it was forgotten
      state: { kind: 'status' }, // of `besideState`
      expires_at: number, // when its cells are erased, but of a held one; what its status tells of
      signals: text, // of a suspect one that is held, with commas between them; or ''
      mail_wanted: { kind: 'flag' }, // until it was decided whether a mail is to go
      is_late: { kind: 'flag', initial: false }, // it was released when its status said already that it has expired
      share: text, // a digest of the client, for the turns of mails
      language: text,
      sheet_tab: text, // that it asks for
      received_at: number,
      email: text,
      source: text,
      name: text,
      tags: text,
      metadata: text,
      fields: text,
    },
    key: ['number'],
    unique: ['id'],
    indexes: {
      pending_by_person: { columns: ['site', 'person', 'state', 'number'] },
      // Of a person, hardly ever more than twenty, whatever else was asked for.
      pending_decided: {
        columns: ['site', 'person', 'state', 'number'],
        where: `${isPlaced} AND NOT mail_wanted`,
      },
      pending_due: { columns: ['site', 'expires_at'], where: `${isPlaced} AND signals = ''` },
      pending_unmailed: { columns: ['site', 'number'], where: 'mail_wanted' },
      pending_held: { columns: ['site', 'number'], where: `signals <> ''` },
    },
  },
  // Messages, each until nobody asks for it any more.
  {
    name: 'message',
    columns: {
      number,
      id: text, // random, or made of what it tells
      site: integer,
      kind: text,
      rank: integer, // lower ones go first
      turn: number, // among those of a rank, lower ones go first
      person: text, // by the hash of the address (`personOf`); empty: it goes to no visitor
      recipient: text, // the hash of the mailbox
      pending: count, // the number of the signup that it asks for, whose address it goes to; else 0
      greets: { kind: 'id', isOptional: true }, // the signup of a welcome, until its person has left
      row_stays: flag, // of a welcome: a row of its person has expired, and nobody finds it any more
      email: text, // empty as soon as nobody needs it
      language: text,
      share: text, // a digest of the client that led to it
      body: text,
      made_at: number,
      stage: { kind: 'status' }, // of `messageStage`
      next_at: count,
      tries: { kind: 'integer', initial: 0 },
      claimed_by: { kind: 'text', initial: '' },
      ended_at: optionalNumber,
    },
    key: ['number'],
    unique: ['id'],
    indexes: {
      message_by_person: { columns: ['site', 'person', 'kind', 'stage'] },
      message_by_share: { columns: ['site', 'share', 'turn'], where: 'stage < 2' },
      message_resting: { columns: ['site', 'next_at'], where: 'stage = 0' },
      message_ready: { columns: ['site', 'rank', 'turn', 'number'], where: 'stage = 1' },
      message_claimed: { columns: ['site'], where: 'stage = 2' },
      // What the sweep and retention look for, without what they leave or have emptied.
      message_over: {
        columns: ['site', 'ended_at'],
        where: `ended_at IS NOT NULL AND kind <> 'welcome'`,
      },
      message_addressed: {
        columns: ['site', 'ended_at'],
        where: `ended_at IS NOT NULL AND email <> ''`,
      },
    },
  },
  // Messages to mailboxes in the last day, to keep their limits and the pace of all.
  {
    name: 'sending',
    columns: { message: number, site: integer, recipient: text, at: number },
    key: ['message'],
    indexes: {
      sending_by_recipient: { columns: ['recipient', 'at'] },
      sending_by_time: { columns: ['at'] },
    },
  },
  // People who get no mail of a site. It outlives `forget`.
  {
    name: 'block',
    columns: { site: integer, person: text, why: text, at: number, until: optionalNumber },
    key: ['site', 'person'],
  },
  // The endpoints of webhooks.
  {
    name: 'endpoint',
    columns: {
      id: integer,
      site: integer,
      key: text, // chosen by who follows it: the journal knows no URL
      began: number, // it is told of nothing up to this position
      cursor: number, // all up to this position were sent, or have a row of their own
      seen_at: number,
      taken_at: optionalNumber,
      failing_since: optionalNumber,
      disabled_at: optionalNumber,
      reason: { kind: 'text', initial: '' },
      enabled: count, // how often somebody has enabled it
      fixed_to: optionalNumber, // up to here goes the message of many signups that is being sent
    },
    key: ['id'],
    unique: ['site', 'key'],
  },
  // Messages of webhooks that are not sent by the cursor of an endpoint.
  {
    name: 'webhook_message',
    columns: {
      endpoint: integer,
      position: number,
      tries: integer,
      next_at: optionalNumber, // 0: at once, and it has not failed; null: it has failed for good
      at: number, // of the last try
      reason: text,
      is_erased: flag, // it tells that the signup was erased
    },
    key: ['endpoint', 'position'],
    indexes: {
      webhook_message_due: {
        columns: ['endpoint', 'next_at', 'position'],
        where: 'next_at IS NOT NULL',
      },
    },
  },
  // Who is signed in to the admin page.
  {
    name: 'login',
    columns: { digest: text, token: text, made_at: number, seen_at: number },
    key: ['digest'],
    indexes: { login_by_time: { columns: ['made_at'] } },
  },
  // What goes on in the background for the admin page. The last ones are kept.
  {
    name: 'work',
    columns: {
      id: text,
      kind: text,
      made_at: number,
      seen_at: number,
      state: text,
      done: number,
      report: text,
    },
    key: ['id'],
    indexes: { work_by_time: { columns: ['made_at'] } },
  },
  // Ranges of signups that no endpoint is told of: those with after < position <= upto.
  {
    name: 'silent',
    columns: { site: integer, upto: number, after: number },
    key: ['site', 'upto'],
  },
  signupTable,
]

/** What the tables have when they are made. */
export const firstRows = `INSERT INTO counter (name, value) VALUES ('batch', 0) ON CONFLICT DO NOTHING`
