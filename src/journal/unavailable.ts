/** The journal cannot be read or written just now: disk full, database gone. */
export class JournalUnavailable extends Error {
  override readonly name = 'JournalUnavailable'
}
