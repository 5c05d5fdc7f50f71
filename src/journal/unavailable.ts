/** The journal cannot be read or written just now: disk full, database gone. */
export class JournalUnavailable extends Error {
  override readonly name: string = 'JournalUnavailable'
}

/** Another process is writing. Nothing was changed, and a moment later it can be tried again. */
export class JournalBusy extends JournalUnavailable {
  override readonly name = 'JournalBusy'
}

/** How often and how long to retry a write while another process is writing. */
export const busy = { retryMs: 10, maxMs: 5_000 } as const
