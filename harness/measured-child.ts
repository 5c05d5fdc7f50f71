/**
 * The service, which tells on SIGUSR2 how much processor time its main thread has needed since the last
 * time, and how long its longest turn was in which it served nobody else. Another program that is busy
 * meanwhile does not count. `measure.ts` asks for it.
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
