const signals = ['SIGTERM', 'SIGINT'] as const
/** Ctrl-C under npm sends two signals: one from the terminal and one passed on by npm. */
const sameMs = 1_000

/**
 * Calls `stop` when the process gets SIGTERM or SIGINT. Signals within a second count as one; a later
 * one ends the process at once.
 */
export function onStopSignal(stop: () => void): void {
  const take = () => {
    stop()
    setTimeout(() => signals.forEach((signal) => process.off(signal, take)), sameMs).unref()
  }
  for (const signal of signals) process.on(signal, take)
}
