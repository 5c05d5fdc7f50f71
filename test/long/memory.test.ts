import { expect, test } from 'vitest'
import { FastClock } from '../../harness/fast-clock.ts'
import { postSignup } from '../../harness/post-signup.ts'
import { readMetrics, withMetrics } from '../../harness/read-metrics.ts'
import { startService } from '../../harness/start-service.ts'

const minute = 60_000
const day = 24 * 60 * minute

test.each([1, 100])(
  'in a week with a signup every five minutes, memory with %i sites does not grow after the third day',
  async (count) => {
    const clock = new FastClock(1000)
    const sites = Array.from({ length: count }, (_, at) => `site-${at}`)
    const config = { sites: Object.fromEntries(sites.map((name) => [name, {}])) }
    const env = { ...clock.environment(), ...withMetrics, ROLLCALL_CONFIG: JSON.stringify(config) }
    await using service = await startService({ env })
    const megabytesOfDay: number[][] = Array.from({ length: 7 }, () => [])
    const begin = clock.now()
    for (let at = 0; at < 7 * day; at += 5 * minute) {
      await clock.until(begin + at)
      const site = sites[(at / (5 * minute)) % count] ?? ''
      const email = `person${at}@example.com`
      // The service's limits are some milliseconds of real time, too short for a busy machine now and then.
      const status = async () => {
        const answer = await postSignup(service.url, { site, email }).catch(() => undefined)
        return answer?.status
      }
      await expect.poll(status).toBe(202)
      megabytesOfDay[Math.floor(at / day)]?.push(
        await megabytesInUse(service.url).catch(() => Infinity),
      )
    }
    // The lowest figures are those after a collection.
    const days = megabytesOfDay.map((all) => Math.min(...all))
    process.stdout.write(`MB of each day with ${count} sites: ${days.join(', ')}\n`)
    expect(days.at(-1)).toBeLessThan(1.05 * (days[2] ?? 0))
  },
)

/** The resident memory without what V8 keeps for objects to come, which is more after each busy moment. */
async function megabytesInUse(url: string): Promise<number> {
  const metrics = await readMetrics(url)
  const [resident = 0, kept = 0, used = 0] = [
    'process_resident_memory_bytes',
    'nodejs_heap_size_total_bytes',
    'nodejs_heap_size_used_bytes',
  ].map((name) => metrics.get(name))
  return Math.round((resident - kept + used) / 1e6)
}
