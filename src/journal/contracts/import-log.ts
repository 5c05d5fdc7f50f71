import type { Signup } from '../../signup/signup.ts'

/**
 * The journal's interface for bringing signups along from elsewhere, beside a service.
 *
 * Each call is one short transaction, so a call with few signups delays no request. The first call that
 * looks for duplicates reads all addresses of the journal, without delaying anybody; later calls read
 * only the signups that came since.
 */
export interface ImportLog {
  /**
   * Adds signups in this order, all or none, except those of which it says so. Returns one result for
   * each. The change is on disk after the next `flush`, or any later commit of the journal. Rejects with
   * `JournalUnavailable` when nothing could be added; a later call may succeed.
   */
  add(signups: readonly Signup[], terms?: ImportTerms): Promise<readonly Imported[]>

  /** Resolves when everything that was added is on disk. Rejects with `JournalUnavailable`. */
  flush(): Promise<void>

  /**
   * The results that `add` would return if it had added the signups of all earlier previews of this
   * instance. Adds nothing.
   */
  preview(signups: readonly Signup[], terms?: ImportTerms): Promise<readonly Imported[]>
}

export interface ImportTerms {
  /** Whether an address that its tab has already gets another row, whatever the policy of duplicates says. */
  readonly keepsDuplicates?: boolean | undefined
  /** Whether webhooks tell of the signups. */
  readonly webhooks?: boolean | undefined
}

/**
 * - `known`: not added, because the tab has a signup with this address (letter case aside), from any
 *   process or from earlier in this list.
 * - `forgotten`: not added, because the address was forgotten.
 * - `tooManyTabs`: not added, because its tab would be one too many.
 */
export type Imported = 'added' | 'known' | 'forgotten' | 'tooManyTabs'
