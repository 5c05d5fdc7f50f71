import type { Idempotency, OwnedKey } from '../journal/intake-log.ts'
import type { HttpHeaders } from '../platform/http-exchange.ts'
import { sha256 } from '../platform/digest.ts'
import { isRecord } from '../signup/json.ts'
import { limits } from '../signup/limits.ts'
import type { ParsedSignup } from '../signup/parse.ts'
import { tabKey } from '../signup/signup.ts'
import { Places } from '../http/places.ts'
import { refuse } from '../http/refuse.ts'
import type { Exchange } from '../http/exchange.ts'

const printable = /^[\x20-\x7e]+$/

/**
 * The `Idempotency-Key` of a request.
 * @throws Refusal when it is malformed
 */
function idempotencyKey(headers: HttpHeaders): string | undefined {
  const key = headers.get('idempotency-key')
  if (key === null) return undefined
  if (printable.test(key) && key.length <= limits.idempotencyKeyCharactersMax) return key
  throw refuse.malformed(
    `The Idempotency-Key must be 1 to ${limits.idempotencyKeyCharactersMax} printable ASCII ` +
      'characters, such as a UUID.',
  )
}

/**
 * The key of a request in the name space that it belongs to. Each API key has one, so that nobody
 * else can take or know its keys; all who have none share one, so that a retry from another network
 * is the same.
 */
export function ownedKey({
  request,
  apiKey = '',
}: Pick<Exchange, 'request' | 'apiKey'>): OwnedKey | undefined {
  const key = idempotencyKey(request.headers)
  return key === undefined ? undefined : { space: apiKey, key }
}

/** What makes a request repeatable. */
export function idempotencyOf(
  key: OwnedKey,
  route: string,
  content: readonly unknown[],
): Idempotency {
  return { ...key, fingerprint: fingerprintOf(route, content) }
}

/**
 * Tells requests with different contents apart: SHA-256, base64. `route` is part of it, so that one
 * key on two endpoints is a mismatch.
 */
export function fingerprintOf(route: string, content: readonly unknown[]): string {
  return sha256(JSON.stringify([route, ...content]))
}

/** What makes two signups the same request: all that becomes a row, and no challenge token. */
export function contentOf(signup: ParsedSignup): readonly unknown[] {
  const { email, sheetTab, source, name, tags, metadata } = signup
  return [email, tabKey(sheetTab), source, name, tags, inKeyOrder(metadata)]
}

/** The same JSON with the keys of every object sorted: their order means nothing. Never recurses. */
function inKeyOrder(json: string): string {
  if (json === '') return json
  const values: unknown[] = [JSON.parse(json)]
  for (const value of values) {
    if (isRecord(value)) sortKeys(value)
    const children: unknown[] = typeof value === 'object' && value ? Object.values(value) : []
    values.push(...children)
  }
  return JSON.stringify(values[0])
}

function sortKeys(object: Record<string, unknown>): void {
  const sorted = Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1))
  for (const [key, value] of sorted) {
    Reflect.deleteProperty(object, key)
    // By assignment, `__proto__` would be no key.
    const property = { value, enumerable: true, configurable: true, writable: true }
    Object.defineProperty(object, key, property)
  }
}

/** A retry waits behind one or two: more than these wait only when the challenge's provider hangs. */
const inTurnMax = { max: 1_000, addressMax: 100 }

/** Work with one key, one after the other, in order of arrival; different keys at the same time. */
export class Turns {
  readonly #last = new Map<string, Promise<unknown>>()
  readonly #waiting: Places

  constructor(waitingMax = inTurnMax) {
    this.#waiting = new Places(waitingMax)
  }

  /** Whether work with this key is being done. */
  has(key: OwnedKey): boolean {
    return this.#last.has(nameOf(key))
  }

  /**
   * @param address of the client; undefined when it is not told apart from others
   * @throws Refusal 503 when too many wait for their turn
   */
  async take<T>(key: OwnedKey, address: string | undefined, work: () => Promise<T>): Promise<T> {
    const name = nameOf(key)
    const before = this.#last.get(name)
    const mine = before ? this.#behind(before, address, work) : work()
    this.#last.set(name, mine)
    try {
      return await mine
    } finally {
      if (this.#last.get(name) === mine) this.#last.delete(name)
    }
  }

  #behind<T>(
    before: Promise<unknown>,
    address: string | undefined,
    work: () => Promise<T>,
  ): Promise<T> {
    if (!this.#waiting.take(address)) throw refuse.tooManyInTurn()
    const begin = () => {
      this.#waiting.free(address)
      return work()
    }
    return before.then(begin, begin)
  }
}

/** No name space has a space in it. */
function nameOf({ space, key }: OwnedKey): string {
  return `${space} ${key}`
}
