/** What an operator wants to know about the server. What is left out is what this server does not tell. */
export interface ServerFacts {
  /** What the server calls itself, with its version. */
  readonly product?: string
  readonly encoding?: string
  /** Whether it is a standby. */
  readonly isStandby?: boolean
  /** Whether it takes no signups, as a standby or by a setting. */
  readonly isReadOnly?: boolean
  /** Whether its schema `rollcall` has tables, and is no journal. */
  readonly isForeign?: boolean
  /** Whether the user of the URL may use that schema. */
  readonly mayEnter?: boolean
  /** The version of the tables; 0 when there is no journal. */
  readonly tables?: number
  /** The version of the tables that this version of Rollcall makes. */
  readonly tablesWanted: number
  /** What the user may not do with the tables, such as `INSERT`. */
  readonly rightsMissing?: readonly string[]
  /** Whether the user may change the tables, as a new version of Rollcall may have to. */
  readonly mayMigrate?: boolean
  /** The settings with which it may lose what was committed. */
  readonly risks?: readonly Risk[]
}

export type Risk = 'fsync' | 'full_page_writes' | 'data_sync_retry' | 'zero_damaged_pages'
