/**
 * How long a test waits for what must happen, in milliseconds. It only ends what hangs: a busy machine
 * may take many times as long as a quiet one.
 */
export const patienceMs = 120_000

/** The same for a whole test, which may wait several times. */
export const testPatienceMs = 10 * 60_000
