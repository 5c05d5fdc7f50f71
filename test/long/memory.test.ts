import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { FastClock } from '../../harness/fast-clock.ts'
import { postSignup } from '../../harness/post-signup.ts'
import { startService } from '../../harness/start-service.ts'

const minute = 60_000
const day = 24 * 60 * minute

test.each([1, 100])(
  'in a week with a signup every five minutes, memory with %i sites does not grow after the third day',
  async (count) => {
    const clock = new FastClock(1000)
    const sites = Array.from({ length: count }, (_, at) => `site-${at}`)
    const config = { sites: Object.fromEntries(sites.map((name) => [name, {}])) }
    const env = { ...clock.environment(), ROLLCALL_CONFIG: JSON.stringify(config) }
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
      megabytesOfDay[Math.floor(at / day)]?.push(megabytesOf(service.pid))
    }
    const days = megabytesOfDay.map(medianOf)
    process.stdout.write(`MB of each day with ${count} sites: ${days.join(', ')}\n`)
    expect(days.at(-1)).toBeLessThan(1.05 * (days[2] ?? 0))
  },
)

function megabytesOf(pid: number): number {
  const [, kilobytes] = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Math.round(Number(kilobytes) / 1000)
}

function medianOf(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN
}
