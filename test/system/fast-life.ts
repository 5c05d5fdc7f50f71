import { FastClock } from '../../harness/fast-clock.ts'
import { createGoogleWorld } from '../../harness/google-world.ts'
import { postSignup } from '../../harness/post-signup.ts'
import { startService } from '../../harness/start-service.ts'
import { tempFolder } from '../../harness/temp-folder.ts'
import { expect } from 'vitest'

const minute = 60_000

/** The life of one service in fast time. All times are in minutes of the service. */
export interface FastLife {
  /** How many times as fast as real time. */
  readonly speed: number
  readonly minutes: number
  readonly signupEvery: number
  /** How often the process is killed and started again; never when left out. */
  readonly killEvery?: number
}

/**
 * Lets the real process live against the emulator with its quotas, both in the same fast time. Checks
 * that each signup became one row, in order, and that Google refused no call for its quota. Returns how
 * many access tokens were issued.
 */
export async function liveFast(life: FastLife): Promise<{ readonly tokens: number }> {
  const { speed, minutes, signupEvery, killEvery = Infinity } = life
  const clock = new FastClock(speed)
  await using world = await createGoogleWorld({ clock, quota: 'strict' })
  await using folder = await tempFolder()
  const start = () =>
    startService({ env: { ...world.env, ...clock.environment() }, dataDir: folder.path })
  let service = await start()
  const begin = clock.now()
  const emails: string[] = []
  let kills = 0
  try {
    for (let at = 0; at < minutes; at += signupEvery) {
      await clock.until(begin + at * minute)
      if (at >= (kills + 1) * killEvery) {
        kills += 1
        await service.kill()
        service = await start()
      }
      const email = `person${at}@example.com`
      emails.push(email)
      await signUp(service.url, email)
    }
    const written = async () =>
      ((await world.rows('Sheet1')) ?? []).slice(1).map(([email]) => email)
    await expect.poll(written).toHaveLength(emails.length)
    expect(await written()).toEqual(emails)
    const refused = world.emulator.log.calls().filter(({ status }) => status === 429)
    expect(refused).toEqual([])
    return { tokens: world.emulator.counters.tokens }
  } finally {
    await service[Symbol.asyncDispose]()
  }
}

/**
 * As a visitor's page does: it sends again with the same key until it has an answer. On a slow machine
 * the service's limits of some seconds are over within milliseconds.
 */
async function signUp(url: string, email: string): Promise<void> {
  const status = async () => {
    const answer = await postSignup(url, { email }, { 'idempotency-key': email }).catch(() => null)
    return answer?.status
  }
  await expect.poll(status).toBe(202)
}
