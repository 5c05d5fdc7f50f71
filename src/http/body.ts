import type { HttpHeaders, HttpRequest } from '../platform/http-exchange.ts'
import type { Share } from '../platform/share.ts'
import { isRecord, parseJson } from '../signup/json.ts'
import type { FormEntries } from './exchange.ts'
import type { Budget } from './budget.ts'
import { Refusal } from './problem.ts'
import { refuse } from './refuse.ts'

/** What a request carried: a JSON object, or the text fields of a form. */
export type Body =
  | { readonly kind: 'json'; readonly value: Readonly<Record<string, unknown>> }
  | { readonly kind: 'form'; readonly fields: FormEntries }

/** Room for four bodies of the largest configurable size, or for 64 of the default size. */
export const arrivingBytesMax = 64 * 1024 * 1024

/** Bodies up to this size are not counted: ten thousand connections with one each take 40 MB. */
const smallBytesMax = 4096

/** Limits on one body and on all bodies together. */
export interface BodyLimits {
  readonly bytesMax: number
  readonly formFieldsMax: number
  /** The bytes received so far of all larger bodies that have not arrived completely. */
  readonly arriving: Budget
}

export interface ReadFrom {
  readonly request: HttpRequest
  readonly client: { readonly share: Share }
}

/**
 * Reads a body of one of the three accepted types.
 *
 * @throws Refusal when the body has another type, or is too large, malformed or incomplete
 */
export async function readBody({ request, client }: ReadFrom, limits: BodyLimits): Promise<Body> {
  const { headers } = request
  const contentType = headers.get('content-type') ?? ''
  if (isCoded(headers)) throw refuse.contentCoding()
  const mediaType = mediaTypeOf(contentType)
  const { bytesMax, formFieldsMax, arriving } = limits
  if (announcedBytes(request) > bytesMax) throw refuse.bodyTooLarge(bytesMax)
  let bytes: Uint8Array<ArrayBuffer>
  try {
    bytes = isSmallBody(request)
      ? await request.bytes()
      : await readPieces(request, bytesMax, arriving, client.share)
  } catch (error) {
    throw error instanceof Refusal ? error : refuse.incompleteBody()
  }
  switch (mediaType) {
    case 'application/json':
      return { kind: 'json', value: parseObject(decode(bytes)) }
    case 'application/x-www-form-urlencoded':
      return { kind: 'form', fields: parseUrlencoded(decode(bytes), formFieldsMax) }
    case 'multipart/form-data':
      return { kind: 'form', fields: await parseMultipart(bytes, contentType, formFieldsMax) }
  }
}

/** Whether the announced length is small. The server never reads more than was announced. */
export function isSmallBody(request: HttpRequest): boolean {
  return announcedBytes(request) <= smallBytesMax
}

/** NaN when the length is missing. */
function announcedBytes({ headers }: HttpRequest): number {
  return Number(headers.get('content-length') ?? Number.NaN)
}

const mediaTypes = [
  'application/json',
  'application/x-www-form-urlencoded',
  'multipart/form-data',
] as const

/** @throws Refusal when the type or its charset is not accepted */
function mediaTypeOf(contentType: string) {
  const name = contentType.split(';', 1)[0]?.trim().toLowerCase()
  const mediaType = mediaTypes.find((it) => it === name)
  if (!mediaType) throw refuse.contentType()
  if (mediaType !== 'multipart/form-data' && !isUtf8(contentType)) throw refuse.charset()
  return mediaType
}

function isUtf8(contentType: string): boolean {
  const charset = /;\s*charset\s*=\s*"?([^\s";]*)/i.exec(contentType)?.[1] ?? 'utf-8'
  return /^(utf-?8|us-ascii)$/i.test(charset)
}

const plainCodings: ReadonlySet<string> = new Set(['', 'identity', 'chunked'])

/** Whether the body is compressed. Node removes only `chunked`, also from a `Transfer-Encoding` of `gzip, chunked`. */
function isCoded(headers: HttpHeaders): boolean {
  return ['content-encoding', 'transfer-encoding'].some((name) =>
    headers
      .get(name)
      ?.split(',')
      .some((it) => !plainCodings.has(it.trim().toLowerCase())),
  )
}

/** Never keeps more than the limit in memory. Copies all pieces into one array: kept apart, a million one-byte pieces would take a hundred times their size. */
async function readPieces(
  { body }: HttpRequest,
  bytesMax: number,
  arriving: Budget,
  { client, part }: Share,
): Promise<Uint8Array<ArrayBuffer>> {
  // Every client may send one body of the largest size.
  const clientMax = Math.max(bytesMax, part * arriving.max)
  let bytes = new Uint8Array(smallBytesMax)
  let size = 0
  try {
    for await (const piece of body ?? []) {
      const grown = size + piece.byteLength
      if (grown > bytesMax) throw refuse.bodyTooLarge(bytesMax)
      if (!arriving.take(client, piece.byteLength, clientMax)) throw refuse.tooBusy()
      if (grown > bytes.length) {
        const larger = new Uint8Array(Math.min(2 * grown, bytesMax))
        larger.set(bytes)
        bytes = larger
      }
      bytes.set(piece, size)
      size = grown
    }
    return bytes.subarray(0, size)
  } finally {
    arriving.free(client, size)
  }
}

const notUtf8 = 'The body is not valid UTF-8.'
const notMultipart = 'The body is not valid multipart/form-data.'

const utf8 = new TextDecoder('utf-8', { fatal: true })
/** Decodes each byte to one character. */
const latin1 = new TextDecoder('latin1')

function decode(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch {
    throw refuse.malformed(notUtf8)
  }
}

function parseObject(text: string): Record<string, unknown> {
  const parsed = parseJson(text)
  if ('problem' in parsed) throw refuse.malformed(`The body ${parsed.problem}.`)
  if (isRecord(parsed.value)) return parsed.value
  throw refuse.malformed(
    'The body must be a JSON object: {"email":"name@example.com"}, or for many {"signups":[…]}.',
  )
}

function parseUrlencoded(text: string, fieldsMax: number): FormEntries {
  // What curl sends with -d and without a header. No form has a field of such a name.
  if (text.startsWith('{"')) throw refuse.jsonAsForm()
  refuseTooManyFields(text.split('&', fieldsMax + 1).length, fieldsMax)
  try {
    // Fails on invalid UTF-8, which URLSearchParams would replace silently. A stray percent sign is allowed.
    decodeURIComponent(text.replace(/%(?![\da-f]{2})/gi, '%25'))
  } catch {
    throw refuse.malformed(notUtf8)
  }
  return [...new URLSearchParams(text)]
}

/** Call before parsing: a megabyte of fields without values would take seconds to parse. */
function refuseTooManyFields(count: number, fieldsMax: number): void {
  if (count <= fieldsMax) return
  const message = `The form has too many fields: at most ${fieldsMax}.`
  throw refuse.fields([{ field: '', message }])
}

async function parseMultipart(
  bytes: Uint8Array<ArrayBuffer>,
  contentType: string,
  fieldsMax: number,
): Promise<FormEntries> {
  const boundary = boundaryIn(contentType)
  const parts = latin1.decode(bytes).split(`--${boundary}`, fieldsMax + 3)
  // Two of the parts are no fields: the text before the first boundary and after the last.
  refuseTooManyFields(parts.length - 2, fieldsMax)
  let form: FormData
  try {
    // Pass only our boundary, so that the parser finds the same fields that were counted.
    const headers = { 'content-type': `multipart/form-data; boundary="${boundary}"` }
    form = await new Response(bytes, { headers }).formData()
  } catch {
    throw refuse.malformed(notMultipart)
  }
  const fields = [...form].flatMap(([name, value]): FormEntries => {
    if (typeof value === 'string') return [[name, value]]
    // Browsers send a nameless empty file for a file field that was left empty.
    if (value.name === '' && value.size === 0) return []
    throw refuse.fields([
      { field: name.slice(0, 64), message: 'A form may have text only, and no files.' },
    ])
  })
  decode(bytes)
  return fields
}

/** The boundary in a `Content-Type`, by the rules of RFC 2046, section 5.1.1. */
function boundaryIn(contentType: string): string {
  const boundary = /;\s*boundary=("?)([\w'()+,./:=? -]{1,70})\1\s*(?:;|$)/i.exec(contentType)?.[2]
  if (boundary === undefined) throw refuse.malformed(notMultipart)
  return boundary
}
