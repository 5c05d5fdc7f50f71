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

/** A service with some settings, and the requests that it gets, in order. */
export interface AskedWorld {
  readonly name: string
  readonly env: Readonly<Record<string, string>>
  /** The servers around it. */
  readonly outside?:
    'nothing' | 'challenge' | 'misconfigured challenge' | 'sheet that is not shared'
  readonly requests: readonly Asked[]
  readonly raw?: readonly AskedRaw[]
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
  const fill = (text: string) =>
    text.replace(/\{(\w+)\}/g, (whole, name: string) => kept.get(name) ?? whole)
  const [method = '', path = ''] = fill(asked.send).split(' ')
  const [type, text] = bodyOf(asked)
  const given = Object.entries(asked.headers ?? {}).map(([name, value]) => [name, fill(value)])
  return {
    method,
    path,
    headers: {
      host,
      ...(type !== undefined && { 'content-type': type }),
      ...Object.fromEntries(given),
    },
    body: text === undefined ? undefined : fill(text),
  }
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
