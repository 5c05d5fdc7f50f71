/**
 * Runs the service and prints measurements for `measure.ts`. On SIGUSR2 it prints the processor time that
 * the main thread has used since the last signal, and the longest turn of its event loop. The time of other
 * programs does not count. On SIGHUP it collects all garbage and prints the memory in use.
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
