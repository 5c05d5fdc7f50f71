/** One request whose answer is recorded, as data. `{name}` in it stands for a value of an earlier answer. */
export interface Asked {
  /** The name of the request in the record, used once in its world. */
  readonly what: string
  /** Method and path, as in the first line of a request. */
  readonly send: `${string} ${string}`
  readonly headers?: Readonly<Record<string, string>>
  /** At most one of these four: the body and its content type. */
  readonly json?: unknown
  readonly form?: readonly (readonly [string, string])[]
  readonly multipart?: readonly (readonly [string, string])[]
  /** The body as it is. Its type is in `headers`. */
  readonly body?: string
  /** Values of the answer for later requests, by name: each is a header or a member of the JSON. */
  readonly keep?: Readonly<Record<string, string>>
  /** The request is sent again until the answer has this text. Only that answer counts. */
  readonly until?: string
}

/** Bytes for a connection that no web `Request` can stand for. */
export interface AskedRaw {
  readonly what: string
  readonly bytes: string
}

/** A request as it is sent. */
export interface Spelled {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
}

/** The host name of all requests that do not set one. */
const host = 'signup.example.com'

const boundary = 'rollcall-boundary'

/** @param kept the values for the names in braces */
export function spell(asked: Asked, kept: ReadonlyMap<string, string>): Spelled {
  const [method = '', path = ''] = fill(asked.send, kept).split(' ')
  const [type, text] = bodyOf(asked)
  const given = Object.entries(asked.headers ?? {}).map(([name, value]) => [
    name,
    fill(value, kept),
  ])
  return {
    method,
    path,
    headers: {
      host,
      ...(type !== undefined && { 'content-type': type }),
      ...Object.fromEntries(given),
    },
    body: text === undefined ? undefined : fill(text, kept),
  }
}

/** Replaces the names in braces, and `{x*9}` by nine times the text before the star. */
export function fill(text: string, kept: ReadonlyMap<string, string> = new Map()): string {
  return text
    .replace(/\{([^{}*]+)\*(\d+)\}/g, (_, part: string, count: string) =>
      part.repeat(Number(count)),
    )
    .replace(/\{(\w+)\}/g, (whole, name: string) => kept.get(name) ?? whole)
}

type Content = readonly [type: string | undefined, text: string | undefined]

function bodyOf({ json, form, multipart, body }: Asked): Content {
  if (json !== undefined) return ['application/json', JSON.stringify(json)]
  if (form) {
    const pairs = form.map(([name, value]) => [name, value])
    return ['application/x-www-form-urlencoded', new URLSearchParams(pairs).toString()]
  }
  if (multipart) {
    const parts = multipart.map(
      ([name, value]) =>
        `--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
    )
    return [`multipart/form-data; boundary=${boundary}`, `${parts.join('')}--${boundary}--\r\n`]
  }
  return [undefined, body]
}
