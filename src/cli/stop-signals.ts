const signals = ['SIGTERM', 'SIGINT'] as const
/** Ctrl-C under npm comes twice: from the terminal, and passed on by npm. */
const sameMs = 1_000

/**
 * Calls back when the process is asked to stop. Another signal ends it at once, but for those of the
 * first second, which are taken for the same one.
 */
export function onStopSignal(stop: () => void): void {
  const take = () => {
    stop()
    setTimeout(() => signals.forEach((signal) => process.off(signal, take)), sameMs).unref()
  }
  for (const signal of signals) process.on(signal, take)
}
