import type { HttpHeaders, HttpRequest } from '../platform/http-exchange.ts'
import type { Share } from '../platform/share.ts'
import { parseJson } from '../signup/json-text.ts'
import { isRecord } from '../signup/json.ts'
import type { Exchange, FormEntries } from './exchange.ts'
import { Refusal } from './problem.ts'
import { refuse } from './refuse.ts'

/** What a request carried: a JSON value, or the text fields of a form. */
export type Body =
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'form'; readonly fields: FormEntries }

/** Enough for four bodies of the largest size that can be set, and for 64 of the usual one. */
const arrivingBytesMax = 64 * 1024 * 1024

/** Ten thousand connections with so much each take 40 MB: they need no count, and always get in. */
const smallBytesMax = 4096

/** How many bytes of larger bodies have come whose rest is still on its way, of all requests together. */
export class ArrivingBodies {
  readonly #bytesMax: number
  readonly #ofClients = new Map<string, number>()
  #bytes = 0

  constructor(bytesMax = arrivingBytesMax) {
    this.#bytesMax = bytesMax
  }

  get bytes(): number {
    return this.#bytes
  }

  /**
   * A client's share is at least one body of `bodyBytesMax`.
   * @throws Refusal 503 when all together, or this client's, are too large; then they do not count.
   */
  add(bytes: number, { client, part }: Share, bodyBytesMax: number): void {
    const ofClient = (this.#ofClients.get(client) ?? 0) + bytes
    const share = Math.max(bodyBytesMax, part * this.#bytesMax)
    if (ofClient > share || this.#bytes + bytes > this.#bytesMax) throw refuse.tooBusy()
    this.#ofClients.set(client, ofClient)
    this.#bytes += bytes
  }

  remove(bytes: number, { client }: Share): void {
    const left = (this.#ofClients.get(client) ?? 0) - bytes
    if (left > 0) this.#ofClients.set(client, left)
    else this.#ofClients.delete(client)
    this.#bytes -= bytes
  }
}

/** What a body may be. */
export interface BodyLimits {
  readonly bytesMax: number
  readonly formFieldsMax: number
  readonly arriving: ArrivingBodies
}

/**
 * Reads a body of one of the three types that are taken.
 * @throws Refusal for all others, and for one that is too large, malformed or not complete
 */
export async function readBody(
  { request, share }: Pick<Exchange, 'request' | 'share'>,
  limits: BodyLimits,
): Promise<Body> {
  const { headers } = request
  const contentType = headers.get('content-type') ?? ''
  if (isCoded(headers)) throw refuse.contentCoding()
  const mediaType = mediaTypeOf(contentType)
  const bytes = await readBytes(request, share, limits)
  const { formFieldsMax } = limits
  switch (mediaType) {
    case 'application/json':
      return { kind: 'json', value: parseObject(decode(bytes)) }
    case 'application/x-www-form-urlencoded':
      return { kind: 'form', fields: parseUrlencoded(decode(bytes), formFieldsMax) }
    case 'multipart/form-data':
      return { kind: 'form', fields: await parseMultipart(bytes, contentType, formFieldsMax) }
  }
}

/** Stops keeping what it reads at the limit: a larger body never takes memory. */
async function readBytes(
  request: HttpRequest,
  share: Share,
  { bytesMax, arriving }: BodyLimits,
): Promise<Uint8Array<ArrayBuffer>> {
  if (announcedBytes(request) > bytesMax) throw refuse.bodyTooLarge(bytesMax)
  try {
    if (isSmallBody(request)) return await request.bytes()
    return await readPieces(request, bytesMax, arriving, share)
  } catch (error) {
    throw error instanceof Refusal ? error : refuse.incompleteBody()
  }
}

/** Whether it costs next to nothing to read it: the server reads no further than was announced. */
export function isSmallBody(request: HttpRequest): boolean {
  return announcedBytes(request) <= smallBytesMax
}

/** NaN when the request does not say. */
function announcedBytes({ headers }: HttpRequest): number {
  return Number(headers.get('content-length') ?? Number.NaN)
}

/** @throws Refusal for a type, or a charset, that is not taken */
function mediaTypeOf(contentType: string) {
  const end = contentType.indexOf(';')
  const name = end === -1 ? contentType : contentType.slice(0, end)
  const mediaType = name.trim().toLowerCase()
  switch (mediaType) {
    case 'application/json':
    case 'application/x-www-form-urlencoded':
      if (end !== -1 && !isUtf8(contentType)) throw refuse.charset()
      return mediaType
    case 'multipart/form-data':
      return mediaType
    default:
      throw refuse.contentType()
  }
}

function isUtf8(contentType: string): boolean {
  const charset = /;\s*charset\s*=\s*"?([^\s";]*)/i.exec(contentType)?.[1] ?? 'utf-8'
  return /^(utf-?8|us-ascii)$/i.test(charset)
}

/** Node joins chunks, and hands on what they hold: also when `Transfer-Encoding` says `gzip, chunked`. */
function isCoded(headers: HttpHeaders): boolean {
  return (
    hasOther(headers.get('content-encoding'), ['', 'identity']) ||
    hasOther(headers.get('transfer-encoding'), ['', 'identity', 'chunked'])
  )
}

/** Whether a list of words has any but these. */
function hasOther(list: string | null, words: readonly string[]): boolean {
  return list?.split(',').some((word) => !words.includes(word.trim().toLowerCase())) ?? false
}

/** Into one array: a million pieces of a byte each would take a hundred times their size. */
async function readPieces(
  { body }: HttpRequest,
  bytesMax: number,
  arriving: ArrivingBodies,
  share: Share,
): Promise<Uint8Array<ArrayBuffer>> {
  let bytes = new Uint8Array(smallBytesMax)
  let size = 0
  try {
    for await (const piece of body ?? []) {
      const grown = size + piece.byteLength
      if (grown > bytesMax) throw refuse.bodyTooLarge(bytesMax)
      arriving.add(piece.byteLength, share, bytesMax)
      if (grown > bytes.length) bytes = enlarged(bytes, Math.min(2 * grown, bytesMax))
      bytes.set(piece, size)
      size = grown
    }
    return bytes.subarray(0, size)
  } finally {
    arriving.remove(size, share)
  }
}

function enlarged(bytes: Uint8Array, length: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(length)
  larger.set(bytes)
  return larger
}

const utf8 = new TextDecoder('utf-8', { fatal: true })
/** One character for each byte. */
const latin1 = new TextDecoder('latin1')

function decode(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch {
    throw notUtf8()
  }
}

function notUtf8(): Refusal {
  return refuse.malformed('The body is not valid UTF-8.')
}

function parseObject(text: string): Record<string, unknown> {
  const parsed = parseJson(text)
  if ('problem' in parsed) throw refuse.malformed(`The body ${parsed.problem}.`)
  if (isRecord(parsed.value)) return parsed.value
  throw refuse.malformed('The body must be a JSON object, such as {"email":"name@example.com"}.')
}

function parseUrlencoded(text: string, fieldsMax: number): FormEntries {
  refuseTooManyFields(text.split('&', fieldsMax + 1).length, fieldsMax)
  try {
    // URLSearchParams would put a replacement character. A percent sign that encodes nothing is one.
    decodeURIComponent(text.replace(/%(?![\da-f]{2})/gi, '%25'))
  } catch {
    throw notUtf8()
  }
  return [...new URLSearchParams(text)]
}

/** Before anything parses them: a megabyte of fields without a value would take seconds. */
function refuseTooManyFields(count: number, fieldsMax: number): void {
  if (count > fieldsMax) throw refuse.tooManyFormFields(fieldsMax)
}

async function parseMultipart(
  bytes: Uint8Array<ArrayBuffer>,
  contentType: string,
  fieldsMax: number,
): Promise<FormEntries> {
  const boundary = boundaryIn(contentType)
  const parts = latin1.decode(bytes).split(`--${boundary}`, fieldsMax + 3)
  // What is in front of the first field, and what is behind the last.
  refuseTooManyFields(parts.length - 2, fieldsMax)
  let form: FormData
  try {
    // Only this boundary: the one that was counted is the one that is parsed by.
    const headers = { 'content-type': `multipart/form-data; boundary="${boundary}"` }
    form = await new Response(bytes, { headers }).formData()
  } catch {
    throw malformedMultipart()
  }
  const fields = [...form].flatMap(([name, value]): FormEntries => {
    if (typeof value === 'string') return [[name, value]]
    // Browsers send a file without name and content for a field that was left empty.
    if (value.name === '' && value.size === 0) return []
    throw refuse.fields([{ field: name.slice(0, 64), message: 'Files are not taken, text only.' }])
  })
  decode(bytes)
  return fields
}

/** As RFC 2046, section 5.1.1, has them. */
function boundaryIn(contentType: string): string {
  const boundary = /;\s*boundary=("?)([\w'()+,./:=? -]{1,70})\1\s*(?:;|$)/i.exec(contentType)?.[2]
  if (boundary === undefined) throw malformedMultipart()
  return boundary
}

function malformedMultipart(): Refusal {
  return refuse.malformed('The body is not valid multipart/form-data.')
}
