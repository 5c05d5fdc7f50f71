import { isObject } from '../signup/json.ts'
import { parseJson } from '../signup/json-text.ts'
import { refuse, RequestRefused } from './respond.ts'

/** What a request carried: a JSON value, or the text fields of a form. */
export type Body =
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'form'; readonly fields: readonly (readonly [string, string])[] }

/** Enough for four bodies of the largest size that can be set, and for 64 of the usual one. */
const arrivingBytesMax = 64 * 1024 * 1024

/** Ten thousand connections with so much each take 40 MB: they need no count, and always get in. */
const smallBytesMax = 4096

/** How many bytes of larger bodies have come whose rest is still on its way, of all requests together. */
export class ArrivingBodies {
  readonly #bytesMax: number
  #bytes = 0

  constructor(bytesMax = arrivingBytesMax) {
    this.#bytesMax = bytesMax
  }

  get bytes(): number {
    return this.#bytes
  }

  /** @throws RequestRefused 503 when all together are too large; then they do not count. */
  add(bytes: number): void {
    if (this.#bytes + bytes > this.#bytesMax) throw refuse.tooBusy()
    this.#bytes += bytes
  }

  remove(bytes: number): void {
    this.#bytes -= bytes
  }
}

/** Reads a body of one of the three types that are taken; throws `RequestRefused` for all others. */
export async function readBody(
  request: Request,
  bytesMax: number,
  arriving: ArrivingBodies,
): Promise<Body> {
  const { headers } = request
  const contentType = headers.get('content-type') ?? ''
  if (isCoded(headers)) throw refuse.contentCoding()
  const mediaType = contentType.split(';', 1)[0]?.trim().toLowerCase()
  switch (mediaType) {
    case 'application/json':
    case 'application/x-www-form-urlencoded': {
      if (!isUtf8(contentType)) throw refuse.charset()
      const text = decode(await readBytes(request, bytesMax, arriving))
      return mediaType === 'application/json'
        ? { kind: 'json', value: parseObject(text) }
        : { kind: 'form', fields: parseUrlencoded(text) }
    }
    case 'multipart/form-data': {
      const bytes = await readBytes(request, bytesMax, arriving)
      return { kind: 'form', fields: await parseMultipart(bytes, contentType) }
    }
    default:
      throw refuse.contentType()
  }
}

/** Node joins chunks, and hands on what they hold: also when `Transfer-Encoding` says `gzip, chunked`. */
function isCoded(headers: Headers): boolean {
  const content = headers.get('content-encoding') ?? ''
  const transfer = headers.get('transfer-encoding') ?? ''
  return (
    !/^\s*(identity)?\s*$/i.test(content) || !/^[\s,]*((identity|chunked)[\s,]*)*$/i.test(transfer)
  )
}

function isUtf8(contentType: string): boolean {
  const charset = /;\s*charset\s*=\s*"?([^\s";]*)/i.exec(contentType)?.[1] ?? 'utf-8'
  return /^(utf-?8|us-ascii)$/i.test(charset)
}

/** Stops keeping what it reads at the limit: a larger body never takes memory. */
async function readBytes(
  request: Request,
  bytesMax: number,
  arriving: ArrivingBodies,
): Promise<Uint8Array<ArrayBuffer>> {
  const announced = Number(request.headers.get('content-length') ?? Number.NaN)
  if (announced > bytesMax) throw refuse.bodyTooLarge(bytesMax)
  try {
    // The server reads no further than the length that was announced.
    if (announced <= smallBytesMax) return new Uint8Array(await request.arrayBuffer())
    return await readStream(request.body, bytesMax, arriving)
  } catch (error) {
    if (error instanceof RequestRefused) throw error
    throw refuse.malformed('The body ended before it was complete.')
  }
}

async function readStream(
  body: ReadableStream<Uint8Array<ArrayBuffer>> | null,
  bytesMax: number,
  arriving: ArrivingBodies,
): Promise<Uint8Array<ArrayBuffer>> {
  const reader = body?.getReader()
  const chunks: Uint8Array<ArrayBuffer>[] = []
  let size = 0
  try {
    for (;;) {
      const { value } = (await reader?.read()) ?? {}
      if (!value) break
      if (size + value.byteLength > bytesMax) throw refuse.bodyTooLarge(bytesMax)
      arriving.add(value.byteLength)
      size += value.byteLength
      chunks.push(value)
    }
    return await new Blob(chunks).bytes()
  } catch (error) {
    if (reader && error instanceof RequestRefused) void discard(reader)
    throw error
  } finally {
    arriving.remove(size)
  }
}

/** Reads on while the answer is on its way, which a client that still sends would miss otherwise. */
async function discard(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  try {
    while (!(await reader.read()).done);
  } catch {
    // The server has cut it off.
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

function decode(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch {
    throw notUtf8()
  }
}

function notUtf8(): RequestRefused {
  return refuse.malformed('The body is not valid UTF-8.')
}

function parseObject(text: string): Record<string, unknown> {
  const parsed = parseJson(text)
  if ('problem' in parsed) throw refuse.malformed(`The body ${parsed.problem}.`)
  if (isObject(parsed.value)) return parsed.value
  throw refuse.malformed('The body must be a JSON object, such as {"email":"name@example.com"}.')
}

type Fields = readonly (readonly [string, string])[]

function parseUrlencoded(text: string): Fields {
  try {
    // URLSearchParams would put a replacement character. A percent sign that encodes nothing is one.
    decodeURIComponent(text.replace(/%(?![\da-f]{2})/gi, '%25'))
  } catch {
    throw notUtf8()
  }
  return [...new URLSearchParams(text)]
}

async function parseMultipart(
  bytes: Uint8Array<ArrayBuffer>,
  contentType: string,
): Promise<Fields> {
  let form: FormData
  try {
    form = await new Response(bytes, { headers: { 'content-type': contentType } }).formData()
  } catch {
    throw refuse.malformed('The body is not valid multipart/form-data.')
  }
  const fields = [...form].flatMap(([name, value]): Fields => {
    if (typeof value === 'string') return [[name, value]]
    // Browsers send a file without name and content for a field that was left empty.
    if (value.name === '' && value.size === 0) return []
    throw refuse.fields([{ field: name.slice(0, 64), message: 'Files are not taken, text only.' }])
  })
  decode(bytes)
  return fields
}
