import type { Config } from '../../config/config.ts'
import type { Secrets } from '../../config/secrets.ts'
import type { SiteConfig } from '../../config/sites/site.ts'
import type { JournalHome } from '../../operations/journal-home.ts'
import type { Journal } from '../../journal/contracts/journal.ts'
import { type Finding, findingsOf } from '../../signup/finding.ts'
import type { Session } from '../session.ts'

/** One concern. It yields its findings as it makes them, and throws only for mistakes of ours. */
export type Check = (context: CheckContext) => AsyncIterable<Finding> | Promise<readonly Finding[]>

/** What is looked at. */
export interface CheckContext {
  readonly config: Config
  readonly secrets: Secrets
  readonly home: JournalHome
  readonly site: SiteConfig
  readonly journal: OpenedJournal
  /** The web page that somebody tries from, as a browser writes its origin. */
  readonly origin: string | undefined
  /** Whether to send a test notice. */
  readonly sendsNotice: boolean
  readonly session: Pick<Session, 'clock' | 'stop' | 'notes'>
}

export type OpenedJournal =
  | {
      readonly kind: 'open'
      /** The part of the site that is looked at. */
      readonly journal: Journal
      /** The parts of all sites. */
      readonly parts: readonly Journal[]
    }
  /** Why it cannot be opened, and what to do. */
  | { readonly kind: 'closed'; readonly message: string }

/** What a check says that needs the journal, when that is closed. */
export function notChecked(check: string): readonly Finding[] {
  return [findingsOf(check).skipped('not checked: the journal cannot be used')]
}
