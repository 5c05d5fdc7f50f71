/** The journal cannot be read or written now, for instance because the disk is full. */
export class JournalUnavailable extends Error {
  override readonly name: string = 'JournalUnavailable'
}

/** What was to be committed may be in the journal or not, and only a later look can tell. */
export class OutcomeUnknown extends JournalUnavailable {
  override readonly name = 'OutcomeUnknown'
}

/** Another process is writing. Nothing was changed, and the call may succeed a moment later. */
export class JournalBusy extends JournalUnavailable {
  override readonly name = 'JournalBusy'
}

/** What was read; undefined while the journal cannot be used, which intake reports. */
export async function unlessUnavailable<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading
  } catch (error) {
    if (error instanceof JournalUnavailable) return undefined
    throw error
  }
}

/** Another writer on the same journal has frozen or ended a batch meanwhile. Nothing was changed. */
export class Overtaken extends Error {
  override readonly name = 'Overtaken'
}

/** How often and how long to retry a write while another process is writing. */
export const busy = { retryMs: 10, maxMs: 5_000 } as const
