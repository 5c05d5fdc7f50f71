import { type Answer, noContent } from './answer.ts'
import type { Exchange } from './exchange.ts'
import { preflightHeaders } from './origin.ts'
import { refuse } from './refuse.ts'

/** Answers a request, or throws a `Refusal`. */
export type Handler = (exchange: Exchange) => Answer | Promise<Answer>

/** The handlers of one path. HEAD is answered like GET; OPTIONS is answered automatically. */
export interface Route {
  readonly GET?: Handler
  readonly POST?: Handler
  /** Whether pages of every origin may GET it. */
  readonly isPublic?: boolean
  /** Whether a POST needs an API key, where keys are set. */
  readonly needsApiKey?: boolean
  /**
   * Whether its handlers look at the origin of a request themselves, whatever ALLOWED_ORIGINS says. What is
   * posted there is no signup, and no page of another origin may read the answer.
   */
  readonly checksOrigin?: boolean
}

/** The handler of a request, and the named parts of its path. */
export interface Found {
  readonly handle: Handler
  readonly params: Readonly<Record<string, string>>
  /** Whether pages of every origin may read the answer. */
  readonly isPublic: boolean
  /** The path as it was added, with the names of its parameters; undefined when no path matches. */
  readonly route: string | undefined
  /** Whether the request brings signups: nothing else is posted here. */
  readonly isSignup: boolean
  readonly needsApiKey: boolean
  readonly checksOrigin: boolean
}

interface Methods {
  readonly byName: ReadonlyMap<string, Found>
  /** Refuses all other methods. */
  readonly others: Found
}

/** Finds the handler of a path and a method. Unknown ones get a handler that refuses. */
export class Router {
  /** The paths without parameters. Nearly all requests are for one of them. */
  readonly #fixed = new Map<string, Methods>()
  readonly #withParameters: { readonly form: RegExp; readonly methods: Methods }[] = []

  /** @param path may have parameters such as `:id`; a path without them goes before those with them */
  add(path: string, route: Route): void {
    const { GET, POST, isPublic = false, needsApiKey = false, checksOrigin = false } = route
    const allowed = [...(GET ? ['GET', 'HEAD'] : []), ...(POST ? ['POST'] : []), 'OPTIONS']
    const found = (handle: Handler, more = {}) => ({
      ...plain,
      ...{ handle, route: path, checksOrigin },
      ...more,
    })
    const byName = new Map([['OPTIONS', found((exchange) => options(exchange, allowed))]])
    if (GET) byName.set('GET', found(GET, { isPublic })).set('HEAD', found(GET))
    if (POST) byName.set('POST', found(POST, { isSignup: !checksOrigin, needsApiKey }))
    const others = found(() => {
      throw refuse.method(allowed)
    })
    const methods = { byName, others }
    if (!path.includes(':')) return void this.#fixed.set(path, methods)
    const form = new RegExp(`^${path.replaceAll(/:(\w+)/g, `(?<$1>${parameter})`)}$`)
    this.#withParameters.push({ form, methods })
  }

  find({ method, url }: { readonly method: string; readonly url: string }): Found {
    const path = pathOf(url)
    const fixed = this.#fixed.get(path)
    if (fixed) return fixed.byName.get(method) ?? fixed.others
    for (const { form, methods } of this.#withParameters) {
      const { groups: params } = form.exec(path) ?? {}
      if (params) return { ...(methods.byName.get(method) ?? methods.others), params }
    }
    return nothing
  }
}

const never = { isPublic: false, isSignup: false, needsApiKey: false, checksOrigin: false }
const plain = { ...never, params: {} }

const nothing: Found = {
  ...plain,
  route: undefined,
  handle: () => {
    throw refuse.noSuchPath()
  },
}

function options({ request }: Exchange, allowed: readonly string[]): Answer {
  const isPreflight = request.headers.get('access-control-request-method') !== null
  const preflight = isPreflight ? preflightHeaders(allowed) : []
  return noContent(['allow', allowed.join(', '), ...preflight])
}

/** No dots and no codes that a proxy would read as another path. Ids and tokens need none. */
const parameter = String.raw`(?!\.\.?(?:/|$))[^/%]+`

/**
 * The path as it was sent, without a slash at the end. Decoding it, or removing dots, would lead to a path that
 * a rule of a proxy has not seen.
 */
function pathOf(url: string): string {
  const begin = url.indexOf('/', 'https://'.length)
  const end = url.slice(begin).search(/[?#]/)
  const path = end === -1 ? url.slice(begin) : url.slice(begin, begin + end)
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path
}
