import type { FieldValues } from './field.ts'
import type { Signal } from './suspicion.ts'

/**
 * The words of the project, and its types. Docs, logs and code use exactly these.
 *
 * - **signup**: one accepted request for one address.
 * - **tab**: a named sheet of the spreadsheet.
 * - **journal**: the durable list of signups, in order.
 * - **position**: a signup's place in the journal, from 1.
 * - **batch**: the signups sent to the spreadsheet in one call; frozen before its first send.
 * - **marker**: the developer metadata that makes a batch unrepeatable in Google Sheets.
 * - **outcome**: what became of a batch: applied, refused or unknown.
 * - **writer**: the part that sends the batches to the spreadsheet, one at a time.
 * - **suspect**: accepted, but looks like spam.
 * - **held**: suspect, and without a row until a person releases it. All that is held is the **quarantine**.
 * - **pending**: asked for and not yet confirmed: beside the list.
 * - **message**: one mail or notice that waits to be sent.
 * - **workbook**: the local folder of CSV files that stands in for a hosted spreadsheet.
 */

/** Milliseconds: a moment since the Unix epoch, or a duration. */
export type Millis = number

/** A UUIDv7 (RFC 9562), lower case. */
export type SignupId = string & { readonly brand: 'SignupId' }

/** A signup that passed every check of `parse.ts`. All text is free of control characters. */
export interface Signup {
  readonly id: SignupId
  /** The moment of acceptance. */
  readonly receivedAt: Millis
  readonly email: string
  /** Tab name as the visitor or the settings wrote it; see `tabKey`. Empty stands for the default tab. */
  readonly sheetTab: string
  /** Where the signup came from: the caller's own text, or `api`, `form`, `embed`, `bulk`. */
  readonly source: string
  /** Empty when not given. */
  readonly name: string
  readonly tags: readonly string[]
  /** Compact JSON of an object; empty when there is none. */
  readonly metadata: string
  readonly fields: FieldValues
  /** When its person confirmed it; absent when nobody asked for that. */
  readonly confirmedAt?: Millis
  /** The signs of spam in a suspect signup; absent when it is not suspect. */
  readonly suspect?: readonly Signal[]
}

/** What the visitor learns about an accepted signup. */
export interface Receipt {
  readonly id: SignupId
  /** The tab's name as it was first used. */
  readonly sheetTab: string
  readonly receivedAt: Millis
}

/** The key of a tab name. Names that differ only in case have the same key and mean the same tab. */
export function tabKey(name: string): string {
  return name.normalize('NFC').toLowerCase()
}
