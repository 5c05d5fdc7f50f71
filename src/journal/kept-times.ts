const minute = 60 * 1000
const hour = 60 * minute

/**
 * For how many milliseconds an idempotency key is kept. The contract says 24 hours. The extra hour is for
 * clocks that somebody corrects meanwhile.
 */
export const keysKept = 25 * hour

/** For how many milliseconds a used token is kept: longer than any challenge token is valid. */
export const tokensKept = 10 * minute
