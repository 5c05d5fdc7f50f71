/**
 * The time in milliseconds after which a test gives up waiting. It is long, because a busy machine can be
 * many times slower than a quiet one.
 */
export const patienceMs = 120_000

/** The limit in milliseconds for a whole test, which may wait several times. */
export const testPatienceMs = 10 * 60_000
