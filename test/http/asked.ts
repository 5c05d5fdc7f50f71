/** One request of the recorded set, as data. `{name}` in it stands for a value that was kept before. */
export interface Asked {
  /** Names the request in the record; no other of its world is called the same. */
  readonly what: string
  /** Method and path, as in the first line of a request. */
  readonly send: `${string} ${string}`
  readonly headers?: Readonly<Record<string, string>>
  /** At most one of these four: the body and its content type. */
  readonly json?: unknown
  readonly form?: readonly (readonly [string, string])[]
  readonly multipart?: readonly (readonly [string, string])[]
  /** As it is; `headers` tell its type. */
  readonly body?: string
  /** What of the answer later requests use, under which name: a header, or a member of the JSON. */
  readonly keep?: Readonly<Record<string, string>>
  /** Sent again until the answer holds this text; only that answer counts. */
  readonly until?: string
}

/** What no web `Request` can say, as it goes over the wire. */
export interface AskedRaw {
  readonly what: string
  readonly bytes: string
}

/** A service with some settings, and all that is asked of it, in order. */
export interface AskedWorld {
  readonly name: string
  readonly env: Readonly<Record<string, string>>
  /** What stands around it besides. */
  readonly outside?:
    'nothing' | 'challenge' | 'misconfigured challenge' | 'sheet that is not shared'
  readonly requests: readonly Asked[]
  readonly raw?: readonly AskedRaw[]
}

/** A request in bytes, but for its first line. */
export interface Spelled {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
}

/** What all requests are sent to, unless they say otherwise. */
const host = 'signup.example.com'

const boundary = 'rollcall-boundary'

/** @param kept values by the names that stand in braces */
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
