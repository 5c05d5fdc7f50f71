/**
 * The service, which tells what it needs, for `measure.ts`. The processor time is that of its main
 * thread: another program that is busy meanwhile does not count. SIGUSR2 asks for it: for all of it since
 * the last time, and for the longest turn of the event loop, in which nobody else was served. SIGHUP asks
 * for the memory that is left when all garbage is collected.
 */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

const turnMs = 1

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

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

process.on('SIGHUP', () => {
  collectGarbage()
  const { heapUsed, external } = process.memoryUsage()
  process.stdout.write(`measured: ${heapUsed + external} bytes in use\n`)
})

function usedMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

await import('../src/start.js')
