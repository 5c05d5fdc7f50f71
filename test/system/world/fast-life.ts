import { FastClock } from '../../../harness/fast-clock.ts'
import { addressesInSheet, createGoogleWorld } from '../../../harness/google-world.ts'
import { postSignup } from '../../../harness/post-signup.ts'
import { startService } from '../../../harness/start-service.ts'
import { tempFolder } from '../../../harness/temp-folder.ts'
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

/** What became of it. */
export interface Lived {
  /** The addresses that were accepted, in order. */
  readonly accepted: readonly string[]
  /** The addresses in the spreadsheet in the end. */
  readonly rows: readonly (string | undefined)[]
  /** How many calls Google refused for its quota. */
  readonly overQuota: number
  /** How many access tokens were issued. */
  readonly tokens: number
}

/**
 * Lets the real process live against the emulator with its quotas, both in the same fast time, until
 * there are as many rows as signups.
 */
export async function liveFast(life: FastLife): Promise<Lived> {
  const { speed, minutes, signupEvery, killEvery = Infinity } = life
  const clock = new FastClock(speed)
  await using world = await createGoogleWorld({ clock, quota: 'strict' })
  await using folder = await tempFolder()
  const start = () =>
    startService({ env: { ...world.env, ...clock.environment() }, dataDir: folder.path })
  let service = await start()
  const begin = clock.now()
  const accepted: string[] = []
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
      await signUp(service.url, email)
      accepted.push(email)
    }
    const rows = () => addressesInSheet(world)
    await expect.poll(rows).toHaveLength(accepted.length)
    const calls = world.emulator.log.calls()
    return {
      accepted,
      rows: await rows(),
      overQuota: calls.filter(({ status }) => status === 429).length,
      tokens: world.emulator.counters.tokens,
    }
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
