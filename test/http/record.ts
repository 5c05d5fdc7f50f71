import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { type Asked, type AskedRaw, fill, spell } from './asked.ts'
import { outline } from './outline.ts'
import { type Answered, ask, sendBytes } from './transport.ts'

/** An answer without the parts that differ from run to run. */
export interface Recorded {
  readonly status: number
  /** The headers that differ from `usual`; null stands for a usual header that is missing. */
  readonly headers?: Readonly<Record<string, string | null>>
  /** A JSON value, the outline of a page, `<file>` for a file of the build, or else the text; left out when empty. */
  readonly body?: unknown
}

/** A request, and the answer that it has to get. */
export interface Exchanged {
  readonly asked: Asked | AskedRaw
  readonly answer: Recorded
}

/** Replacements for texts that differ in each run, such as the address of an emulator. */
export type StandIns = readonly (readonly [text: string, standIn: string])[]

const fileOf = (world: string) => join(import.meta.dirname, 'exchanges', `${world}.jsonl`)

/** Reads the exchanges of a world, in order. Each is two lines of JSON: the request and the answer. */
export function readExchanges(world: string): readonly Exchanged[] {
  const lines = readFileSync(fileOf(world), 'utf8').trimEnd().split('\n')
  const values = lines.map((line): unknown => JSON.parse(line))
  return Array.from({ length: lines.length / 2 }, (_, at) => ({
    asked: values[2 * at] as Exchanged['asked'],
    answer: values[2 * at + 1] as Recorded,
  }))
}

export function writeExchanges(world: string, exchanges: readonly Exchanged[]): void {
  const values = exchanges.flatMap(({ asked, answer }) => [asked, answer])
  writeFileSync(fileOf(world), values.map((value) => `${JSON.stringify(value)}\n`).join(''))
}

/** Sends the requests of a world in order, and keeps values of their answers. */
export class Recording {
  readonly #kept: Map<string, string>
  readonly #url: string
  readonly #standIns: StandIns

  constructor(url: string, standIns: StandIns, kept: Readonly<Record<string, string>> = {}) {
    this.#url = url
    this.#standIns = standIns
    this.#kept = new Map(Object.entries(kept))
  }

  async ask(asked: Exchanged['asked']): Promise<Recorded> {
    if ('bytes' in asked) return plain(await sendBytes(this.#url, fill(asked.bytes)), [])
    const answer = await this.#ask(asked)
    for (const [name, source] of Object.entries(asked.keep ?? {})) {
      this.#kept.set(name, keptFrom(answer, source))
    }
    return plain(answer, this.#standIns)
  }

  async #ask(asked: Asked): Promise<Answered> {
    const triesMax = asked.until === undefined ? 1 : 200
    for (let tries = 1; ; tries++) {
      const answer = await ask(this.#url, spell(asked, this.#kept))
      const { until = '' } = asked
      if (decode(answer.body).includes(until)) return answer
      if (tries === triesMax)
        throw new Error(`${asked.what}: no ${until} in ${decode(answer.body)}`)
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
}

function keptFrom({ headers, body }: Answered, source: string): string {
  const header = headers.find(([name]) => name === source)?.[1]
  if (header !== undefined) return header
  return String((JSON.parse(decode(body)) as Record<string, unknown>)[source])
}

/** The headers of most answers. */
const usual: Readonly<Record<string, string>> = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), display-capture=(), geolocation=(), microphone=(), payment=()',
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'x-frame-options': 'DENY',
  'access-control-allow-origin': '*',
  'access-control-expose-headers':
    'Idempotency-Replayed, Location, Preference-Applied, RateLimit, RateLimit-Policy, Retry-After, X-Request-Id',
  'x-request-id': '<request>',
}

/** Headers of the connection or the moment, which are not recorded. */
const passing = ['connection', 'keep-alive', 'date']

function plain({ status, headers: given, body }: Answered, standIns: StandIns): Recorded {
  const values = new Map<string, string>()
  for (const [name, value] of given) {
    if (passing.includes(name)) continue
    const before = values.get(name)
    values.set(name, before === undefined ? value : `${before}, ${value}`)
  }
  const type = values.get('content-type') ?? ''
  const isPage = type.startsWith('text/html')
  const isFile = values.has('etag')
  const isRight = values.get('content-length') === String(body.byteLength)
  // The white space of pages and the files of the build may change.
  if (isPage || isFile || (isRight && body.byteLength > 0)) values.delete('content-length')
  const headers = unusual(values, standIns)
  return {
    status,
    ...(Object.keys(headers).length > 0 && { headers }),
    ...(body.byteLength > 0 && {
      body: isFile ? fileBody(body, values) : plainBody(decode(body), type, standIns),
    }),
  }
}

function unusual(
  values: ReadonlyMap<string, string>,
  standIns: StandIns,
): Readonly<Record<string, string | null>> {
  const names = [...new Set([...values.keys(), ...Object.keys(usual)])].sort()
  const told = names.flatMap((name): [string, string | null][] => {
    const value = values.get(name)
    if (value === undefined) return [[name, null]]
    const plained = plainHeader(name, value, standIns)
    return plained === usual[name] ? [] : [[name, plained]]
  })
  return Object.fromEntries(told)
}

function plainHeader(name: string, value: string, standIns: StandIns): string {
  if (name === 'etag') return value.replace(/"[\w-]+-(\w+)"/, '"<hash>-$1"')
  if (name === 'ratelimit') return value.replace(/t=\d+/, 't=<seconds>')
  // Over 30 it is the rest of the minute of a rate limit. Fixed values are shorter.
  if (name === 'retry-after' && Number(value) > 30) return '<seconds>'
  return plainText(value, standIns)
}

function plainBody(text: string, type: string, standIns: StandIns): unknown {
  const plained = plainText(text, standIns)
  if (type.startsWith('text/html')) return outline(plained)
  return /^application\/(problem\+)?json$/.test(type) ? JSON.parse(plained) : plained
}

function plainText(text: string, standIns: StandIns): string {
  const replaced = standIns.reduce((rest, [from, to]) => rest.replaceAll(from, to), text)
  return replaced
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/g, '<id>')
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/g, '<request>')
    .replace(/[0-9a-z]{8}\.[\w-]{22}(?=")/g, '<stamp>')
    .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, '<time>')
}

/** `<file>` when the body can be decoded by its coding. Throws when it cannot. */
function fileBody(body: Uint8Array<ArrayBuffer>, headers: ReadonlyMap<string, string>): string {
  const coding = headers.get('content-encoding')
  const bytes =
    coding === 'br' ? brotliDecompressSync(body) : coding === 'gzip' ? gunzipSync(body) : body
  return bytes.byteLength > 0 ? '<file>' : '<empty file>'
}

function decode(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes)
}
