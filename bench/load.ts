import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

export interface Load {
  readonly url: string
  readonly connections: number
  readonly seconds: number
  /** What each request carries; `%d` becomes its number. */
  readonly body: string
  /** For the script that wrk reads. */
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

/** POSTs with wrk, as fast as the answers come. Resolves with requests per second; one that fails is an error. */
export async function wrk({ url, connections, seconds, body, folder }: Load): Promise<number> {
  const script = join(folder, 'post.lua')
  await writeFile(script, luaScript(body))
  const threads = ['-t', '1', '-c', String(connections), '-d', `${seconds}s`]
  const { stdout } = await run('wrk', [...threads, '-s', script, '--timeout', '10s', url])
  const perSecond = Number(/Requests\/sec:\s+([\d.]+)/.exec(stdout)?.[1])
  if (/Non-2xx|Socket errors/.test(stdout) || !(perSecond > 0)) {
    throw new Error(`Requests to ${url} failed under load, so nothing was measured:\n${stdout}`)
  }
  return perSecond
}

function luaScript(body: string): string {
  const head = `wrk.method = "POST"\nwrk.headers["Content-Type"] = "application/json"\n`
  if (!body.includes('%d')) return `${head}wrk.body = [[${body}]]\n`
  return `${head}local start = os.time() % 100000
local number = 0
request = function()
  number = number + 1
  return wrk.format(nil, nil, nil, string.format([[${body}]], start * 10000000 + number))
end
`
}
