/**
 * The service, which tells how long one request kept it from all others: on SIGUSR2 it prints the
 * longest turn of its event loop since the last time, as milliseconds of processor time. Another
 * program that is busy meanwhile does not count.
 */
const turnMs = 1

let before = usedMs()
let longestMs = 0

setInterval(() => {
  const now = usedMs()
  longestMs = Math.max(longestMs, now - before)
  before = now
}, turnMs).unref()

process.on('SIGUSR2', () => {
  process.stdout.write(`longest turn: ${Math.round(longestMs)} ms\n`)
  longestMs = 0
})

function usedMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

await import('../src/start.js')
