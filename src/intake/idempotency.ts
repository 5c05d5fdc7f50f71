import type { OwnedKey } from '../journal/contracts/intake-log.ts'
import type { HttpRequest } from '../platform/http-exchange.ts'
import { sha256 } from '../platform/digest.ts'
import { fieldsText } from '../signup/field.ts'
import { keyField } from '../signup/form.ts'
import { isRecord } from '../signup/json.ts'
import { limits } from '../signup/limits.ts'
import type { ParsedSignup } from '../signup/parse.ts'
import { tabKey } from '../signup/signup.ts'
import { Budget } from '../http/budget.ts'
import { refuse } from '../http/refuse.ts'
import type { Client } from '../http/client.ts'
import type { FormEntries } from '../http/exchange.ts'

const printable = /^[\x20-\x7e]+$/

/**
 * The `Idempotency-Key` of a request and its namespace; undefined when there is none. Each API key has a
 * namespace, so that nobody else can use or guess its keys. All clients without an API key share one, so
 * that a retry from another network is recognised.
 *
 * @throws Refusal 400 when it is malformed
 */
export function ownedKey(
  { headers }: Pick<HttpRequest, 'headers'>,
  { apiKey = '' }: Pick<Client, 'apiKey'>,
): OwnedKey | undefined {
  const key = headers.get('idempotency-key')
  if (key === null) return undefined
  const { idempotencyKeyCharactersMax: charactersMax } = limits
  if (printable.test(key) && key.length <= charactersMax) return { space: apiKey, key }
  throw refuse.malformed(
    `The Idempotency-Key must be 1 to ${charactersMax} printable ASCII characters, such as a UUID.`,
  )
}

/**
 * The key of a posted form: the one that our page gave it when nobody knew whether it was stored, or else a
 * new one. A browser sends no header.
 */
export function formKey(fields: FormEntries): string {
  const given = fields.find(([name]) => name === keyField)?.[1]
  return given !== undefined && /^[\w-]{1,64}$/.test(given) ? given : crypto.randomUUID()
}

/**
 * The digest of a request's content. It includes `route`, so that one key used on two endpoints is a
 * mismatch.
 */
export function fingerprintOf(route: string, content: readonly unknown[]): string {
  return sha256(JSON.stringify([route, ...content]))
}

/** The content that two equal signups share: everything in the row, without the challenge token. */
export function contentOf(signup: ParsedSignup): readonly unknown[] {
  const { email, sheetTab, source, name, tags, metadata, fields } = signup
  const own = inKeyOrder(fieldsText(fields))
  const content = [email, tabKey(sheetTab), source, name, tags, inKeyOrder(metadata)]
  // Without fields, the content is that of earlier versions, whose keys are still remembered.
  return own === '' ? content : [...content, own]
}

/** Sorts the keys of every object in the JSON, because their order has no meaning. */
function inKeyOrder(json: string): string {
  return json === '' ? json : JSON.stringify(JSON.parse(json, withSortedKeys))
}

function withSortedKeys(_: string, value: unknown): unknown {
  if (!isRecord(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** Usually a retry waits for one or two requests. More wait only when the challenge provider hangs. */
const inTurnMax = { max: 1_000, clientMax: 100 }

/** Runs the work of one key one after the other, in order of arrival. Different keys run in parallel. */
export class Turns {
  readonly #last = new Map<string, Promise<unknown>>()
  readonly #waiting: Budget

  constructor(waitingMax = inTurnMax) {
    this.#waiting = new Budget(waitingMax)
  }

  has(key: OwnedKey): boolean {
    return this.#last.has(nameOf(key))
  }

  /**
   * Runs `work` after all earlier work with the same key.
   *
   * @param address the client's address; undefined when the client is not counted by its address
   * @throws Refusal 503 when too many requests wait for their turn
   */
  async take<T>(key: OwnedKey, address: string | undefined, work: () => Promise<T>): Promise<T> {
    const name = nameOf(key)
    const before = this.#last.get(name)
    if (before && !this.#waiting.take(address)) throw refuse.tooManyInTurn()
    const begin = () => {
      this.#waiting.free(address)
      return work()
    }
    const mine = before ? before.then(begin, begin) : work()
    this.#last.set(name, mine)
    try {
      return await mine
    } finally {
      if (this.#last.get(name) === mine) this.#last.delete(name)
    }
  }
}

/** One name for namespace and key. It is unique, because no namespace contains a space. */
function nameOf({ space, key }: OwnedKey): string {
  return `${space} ${key}`
}
