import { execFile, spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { percentile } from './percentile.ts'

const run = promisify(execFile)

export interface Load {
  readonly url: string
  readonly connections: number
  readonly seconds: number
  /** The body of each request. `%d` is replaced by the request's number. */
  readonly body: string
  /** Whether each request has an `Idempotency-Key` of its own, as the embed sends it. */
  readonly isKeyed?: boolean
  /** A folder for the script that wrk reads. */
  readonly folder: string
}

/** A signup as a landing page sends it. */
export const usualBody = JSON.stringify({
  email: 'ada.lovelace@example.com',
  source: 'landing-page',
  name: 'Ada Lovelace',
  tags: ['launch', 'beta'],
  metadata: { plan: 'free', utm_source: 'newsletter' },
})

/** `node:http` in this process when wrk is not installed. It makes far fewer requests. */
export const loadGenerator = spawnSync('wrk', ['-v']).error === undefined ? 'wrk' : 'node:http'

/** How a load was answered. */
export interface Answered {
  readonly perSecond: number
  /** The 99th percentile of the time from a request to its answer. */
  readonly p99Ms: number
}

/**
 * POSTs as fast as the answers come.
 *
 * @throws when a request fails, or none is answered
 */
export function postAtFullRate(load: Load, generator = loadGenerator): Promise<Answered> {
  return generator === 'wrk' ? withWrk(load) : withNode(load)
}

/** As `postAtFullRate`. Resolves with requests per second. */
export async function requestsPerSecond(load: Load, generator = loadGenerator): Promise<number> {
  return (await postAtFullRate(load, generator)).perSecond
}

/** A slice of usual signups, for services of a world. */
export function signingUp({ folder }: Pick<Load, 'folder'>, connections = 64) {
  return (url: string, seconds: number) =>
    requestsPerSecond({ url: `${url}/api/signup`, connections, seconds, body: usualBody, folder })
}

/** How long an answer may take on a busy machine. */
const secondsMax = 60

async function withWrk(load: Load): Promise<Answered> {
  const { url, connections, seconds, folder } = load
  // Several loads may run at the same time.
  const script = join(folder, `${randomUUID()}.lua`)
  await writeFile(script, luaScript(load))
  const threads = ['-t', '1', '-c', String(connections), '-d', `${seconds}s`]
  const { stdout } = await run('wrk', [
    ...threads,
    '--latency',
    '-s',
    script,
    '--timeout',
    `${secondsMax}s`,
    url,
  ])
  const perSecond = Number(/Requests\/sec:\s+([\d.]+)/.exec(stdout)?.[1])
  const hasFailed = /Non-2xx|Socket errors/.test(stdout)
  // Too short a time for this machine, which may be busy.
  if (perSecond === 0 && !hasFailed && seconds < secondsMax) {
    return withWrk({ ...load, seconds: 2 * seconds })
  }
  if (hasFailed || !(perSecond > 0)) {
    throw new Error(`Requests to ${url} failed under load, so nothing was measured:\n${stdout}`)
  }
  const [, time, unit = ''] = /99%\s+([\d.]+)(us|ms|s)/.exec(stdout) ?? []
  return { perSecond, p99Ms: Number(time) * (millisecondsOf[unit] ?? Number.NaN) }
}

const millisecondsOf: Readonly<Record<string, number>> = { us: 0.001, ms: 1, s: 1000 }

async function withNode({ url, connections, seconds, body, isKeyed }: Load): Promise<Answered> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  const begin = performance.now()
  const elapsed = () => (performance.now() - begin) / 1000
  const start = (Math.floor(Date.now() / 1000) % 100_000) * 10_000_000
  let sent = 0
  const times: number[] = []
  const post = async () => {
    while (elapsed() < seconds) {
      sent += 1
      const sentAt = elapsed()
      await postOnce(url, agent, body.replace('%d', String(start + sent)), isKeyed)
      times.push(1000 * (elapsed() - sentAt))
    }
  }
  try {
    await Promise.all(Array.from({ length: connections }, post))
    return { perSecond: sent / elapsed(), p99Ms: percentile(times, 0.99) }
  } finally {
    agent.destroy()
  }
}

const random = crypto.getRandomValues(new Uint32Array(3)).join('-')
let keys = 0

/** A key as the embed and the client make it, but for its last number, which counts: a random one costs 3 µs. */
export function newKey(): string {
  keys += 1
  return `${Date.now()}-${random}-${keys}`
}

function postOnce(url: string, agent: Agent, body: string, isKeyed = false): Promise<void> {
  const key = isKeyed && { 'idempotency-key': newKey() }
  const headers = { 'content-type': 'application/json', ...key }
  return new Promise((resolve, reject) => {
    const posted = request(url, { method: 'POST', agent, headers }, (response) => {
      text(response)
        .then((answer) => {
          const { statusCode = 0 } = response
          if (statusCode >= 200 && statusCode < 300) return resolve()
          throw new Error(
            `${url} answered ${statusCode} under load, so nothing was measured: ${answer}`,
          )
        })
        .catch(reject)
    })
    posted.once('error', reject).end(body)
  })
}

function luaScript({ body, isKeyed = false }: Pick<Load, 'body' | 'isKeyed'>): string {
  const head = `wrk.method = "POST"\nwrk.headers["Content-Type"] = "application/json"\n`
  if (!isKeyed && !body.includes('%d')) return `${head}wrk.body = [[${body}]]\n`
  const key = `os.time() .. "000-${random}-" .. number`
  return `${head}local start = os.time() % 100000
local number = 0
request = function()
  number = number + 1
  ${isKeyed ? `wrk.headers["Idempotency-Key"] = ${key}` : ''}
  return wrk.format(nil, nil, nil, string.format([[${body}]], start * 10000000 + number))
end
`
}
