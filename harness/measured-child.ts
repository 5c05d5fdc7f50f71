/**
 * Runs the service and prints measurements for `measure.ts`. On SIGUSR2 it prints the processor time that
 * the main thread has used since the last signal, and the longest turn of its event loop. The time of other
 * programs does not count.
 */
const turnMs = 1

let before = usedMs()
let toldAt = before
let longestMs = 0

setInterval(() => {
  const now = usedMs()
  longestMs = Math.max(longestMs, now - before)
  before = now
}, turnMs).unref()

process.on('SIGUSR2', () => {
  const now = usedMs()
  process.stdout.write(
    `measured: ${Math.round(longestMs)} ms longest turn, ${Math.round(now - toldAt)} ms in all\n`,
  )
  longestMs = 0
  toldAt = now
})

function usedMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

await import('../src/start.js')
