import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { type ChallengeWorld, createChallengeWorld } from '../../../harness/challenge-world.ts'
import { FastClock } from '../../../harness/fast-clock.ts'
import { createGoogleWorld, type GoogleWorld } from '../../../harness/google-world.ts'
import { postSignup } from '../../../harness/post-signup.ts'
import { metricsText, readMetrics, withMetrics } from '../../../harness/read-metrics.ts'
import { projectRoot } from '../../../harness/source-file.ts'
import { type RunningService, startService } from '../../../harness/start-service.ts'
import { tempFolder } from '../../../harness/temp-folder.ts'

const second = 1000
const minute = 60 * second
/** So that a machine that stops for a second loses a third of a minute. */
const speed = 20
/** As in `examples/monitoring/prometheus.yml`, in the time of the service. */
const scrapeEvery = 15 * second
const healthyMinutes = 4

export interface World {
  readonly service: RunningService
  readonly google: GoogleWorld
  readonly challenge: ChallengeWorld
}

/** A service that works for some minutes, and then has a fault. */
export interface WatchedLife {
  readonly env?: Readonly<Record<string, string>>
  readonly hasChallenge?: boolean
  /** Sends what visitors send in 15 s; by default one signup. */
  readonly visit?: (url: string, at: number, world: World) => Promise<unknown>
  readonly fault: (world: World) => unknown
  /** What visitors send while there is the fault. */
  readonly visitInFault?: WatchedLife['visit']
  /** How long it has the fault. */
  readonly minutes: number
}

/** The alerts that fired while the service worked, and those while it had its fault. */
export interface Fired {
  readonly before: readonly string[]
  readonly after: readonly string[]
}

type Scrape = ReadonlyMap<string, number> | undefined

/**
 * Lets the real process live in fast time, and scrapes it every 15 s of its time. Then promtool evaluates
 * the rules of `examples/monitoring/` over these scrapes.
 */
export async function firedIn(life: WatchedLife): Promise<Fired> {
  const clock = new FastClock(speed)
  await using google = await createGoogleWorld({ clock })
  await using challenge = await createChallengeWorld()
  const own = life.hasChallenge === true ? challenge.env : {}
  const env = { ...google.env, ...own, ...withMetrics, ...life.env, ...clock.environment() }
  await using service = await startService({ env })
  const world = { service, google, challenge }
  const { visit = signUp, visitInFault = visit } = life
  const scrapes: Scrape[] = []
  // The first look at the journal may take a slow machine minutes of this time.
  const hasLooked = async () =>
    (await metricsText(service.url)).includes('rollcall_pending_signups{')
  while (!(await hasLooked())) await sleep(50)
  const begin = clock.now()
  const until = async (minutes: number, send: typeof visit) => {
    for (let at = scrapes.length; at * scrapeEvery < minutes * minute; at = scrapes.length) {
      await clock.until(begin + at * scrapeEvery)
      const late = Math.floor((clock.now() - begin) / scrapeEvery)
      // A slow machine misses scrapes.
      while (scrapes.length < late) scrapes.push(new Map())
      scrapes.push(await readMetrics(service.url).catch(() => undefined))
      await send(service.url, at, world).catch(() => undefined)
    }
  }
  await until(healthyMinutes, visit)
  await life.fault(world)
  const faultBegan = scrapes.length
  await until(healthyMinutes + life.minutes, visitInFault)
  return await firing(scrapes, faultBegan)
}

export const signUp: NonNullable<WatchedLife['visit']> = (url, at, { challenge }) =>
  postSignup(url, { email: `person${at}@example.com`, challengeToken: challenge.token() })

async function firing(scrapes: readonly Scrape[], faultBegan: number): Promise<Fired> {
  await using folder = await tempFolder()
  const file = join(folder.path, 'alerts.yml')
  const firedFor = (count: number) =>
    `max by (alertname) (max_over_time(ALERTS{alertstate="firing"}[${count * 15}s]))`
  const at = (index: number) => `${(index - 1) * 15}s`
  const asked = [
    { eval_time: at(faultBegan), expr: firedFor(faultBegan) },
    { eval_time: at(scrapes.length), expr: firedFor(scrapes.length - faultBegan) },
  ]
  // The wrong value makes promtool say what it got.
  const wanted = asked.map((it) => ({
    ...it,
    exp_samples: [{ labels: '{none="none"}', value: 1 }],
  }))
  const tests = [{ interval: '15s', input_series: seriesOf(scrapes), promql_expr_test: wanted }]
  const rules = join(projectRoot, 'examples/monitoring/rules.yml')
  // JSON is YAML, too.
  const all = { rule_files: [rules], evaluation_interval: '15s', tests }
  await writeFile(file, JSON.stringify(all))
  const { stdout = '', stderr = '' } = await promisify(execFile)('promtool', [
    'test',
    'rules',
    file,
  ]).catch((error: unknown) => error as { stdout?: string; stderr?: string })
  const got = [...`${stdout}${stderr}`.matchAll(/got:(.*)/g)].map(([, text = '']) =>
    Array.from(text.matchAll(/alertname="(\w+)"/g), ([, name = '']) => name).sort(),
  )
  const [before, after] = got
  if (!before || !after) throw new Error(`promtool did not evaluate the rules:\n${stdout}${stderr}`)
  return { before, after }
}

/** The series that a Prometheus has of these scrapes: one that failed leaves only `up`, at 0. */
function seriesOf(scrapes: readonly Scrape[]) {
  const names = new Set(scrapes.flatMap((scrape) => [...(scrape?.keys() ?? [])]))
  const target = 'job="rollcall",instance="localhost:3000"'
  const up = scrapes.map((scrape) => (scrape?.size === 0 ? '_' : scrape ? 1 : 0))
  const own = [...names].filter((name) => name.startsWith('rollcall_') && !name.includes('_bucket'))
  return [
    { series: `up{${target}}`, values: up.join(' ') },
    ...own.map((name) => ({
      series: name.includes('{') ? name.replace('}', `,${target}}`) : `${name}{${target}}`,
      values: scrapes.map((scrape) => scrape?.get(name) ?? '_').join(' '),
    })),
  ]
}
