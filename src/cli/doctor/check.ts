import type { JournalHome } from '../../operations/journal-home.ts'
import type { Inspected } from '../../service/inspections.ts'
import { type Finding, findingsOf } from '../../signup/finding.ts'
import type { Session } from '../session.ts'

/** One concern. It yields its findings as it makes them, and throws only for mistakes of ours. */
export type Check = (context: CheckContext) => AsyncIterable<Finding> | Promise<readonly Finding[]>

/** What is looked at. */
export interface CheckContext extends Inspected {
  readonly home: JournalHome
  /** Why the journal cannot be opened, and what to do; empty when it is open. */
  readonly whyClosed: string
  /** The web page that somebody tries from, as a browser writes its origin. */
  readonly origin: string | undefined
  readonly session: Pick<Session, 'clock' | 'stop' | 'notes'>
}

/** What a check says that needs the journal, when that is closed. */
export function notChecked(check: string): readonly Finding[] {
  return [findingsOf(check).skipped('not checked: the journal cannot be used')]
}
