import { refuse } from './respond.ts'

/** What a request carried: a JSON value, or the text fields of a form. */
export type Body =
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'form'; readonly fields: readonly (readonly [string, string])[] }

/** Reads a body of one of the three types that are taken; throws `RequestRefused` for all others. */
export async function readBody(request: Request, bytesMax: number): Promise<Body> {
  const contentType = request.headers.get('content-type') ?? ''
  const mediaType = contentType.split(';', 1)[0]?.trim().toLowerCase()
  switch (mediaType) {
    case 'application/json':
      return { kind: 'json', value: parseJson(decode(await readBytes(request, bytesMax))) }
    case 'application/x-www-form-urlencoded': {
      const text = decode(await readBytes(request, bytesMax))
      return { kind: 'form', fields: [...new URLSearchParams(text)] }
    }
    case 'multipart/form-data': {
      const bytes = await readBytes(request, bytesMax)
      return { kind: 'form', fields: await parseMultipart(bytes, contentType) }
    }
    default:
      throw refuse.contentType()
  }
}

/** Stops reading at the limit: a larger body never takes memory. */
async function readBytes(request: Request, bytesMax: number): Promise<Uint8Array<ArrayBuffer>> {
  const announced = Number(request.headers.get('content-length') ?? Number.NaN)
  if (announced > bytesMax) throw refuse.bodyTooLarge(bytesMax)
  // The server reads no further than the length that was announced.
  if (announced >= 0) return new Uint8Array(await request.arrayBuffer())
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of request.body ?? []) {
    size += chunk.byteLength
    if (size > bytesMax) throw refuse.bodyTooLarge(bytesMax)
    chunks.push(chunk)
  }
  const bytes = new Uint8Array(size)
  let offset = 0
  for (const chunk of chunks) {
    bytes.set(chunk, offset)
    offset += chunk.byteLength
  }
  return bytes
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

function decode(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch {
    throw refuse.malformed('The body is not valid UTF-8.')
  }
}

function parseJson(text: string): unknown {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw refuse.malformed(`The body is not valid JSON${whereOf(error)}.`)
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  throw refuse.malformed('The body must be a JSON object, such as {"email":"name@example.com"}.')
}

/** The place only: the parser's message quotes the text around it. */
function whereOf(error: unknown): string {
  const place = error instanceof Error ? /at position \d+/.exec(error.message) : null
  return place ? ` (${place[0]})` : ''
}

async function parseMultipart(
  bytes: Uint8Array<ArrayBuffer>,
  contentType: string,
): Promise<readonly (readonly [string, string])[]> {
  let form: FormData
  try {
    form = await new Response(bytes, { headers: { 'content-type': contentType } }).formData()
  } catch {
    throw refuse.malformed('The body is not valid multipart/form-data.')
  }
  return [...form].map(([name, value]) => {
    if (typeof value === 'string') return [name, value]
    throw refuse.fields([{ field: name.slice(0, 64), message: 'Files are not taken, text only.' }])
  })
}
