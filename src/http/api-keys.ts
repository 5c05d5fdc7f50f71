import { sha256 } from '../platform/digest.ts'
import type { HttpHeaders } from '../platform/http-exchange.ts'

/** The keys of those who may send bulk signups. Compared by digest, every one, in constant time. */
export class ApiKeys {
  readonly #digests: readonly string[]
  readonly #refused: () => void

  /** @param refused called for each request with a key that is none of these */
  constructor(keys: readonly string[], refused: () => void) {
    this.#digests = keys.map(sha256)
    this.#refused = refused
  }

  /** Whether a key is needed. */
  get areSet(): boolean {
    return this.#digests.length > 0
  }

  /**
   * The digest of the key that the request carries, as `Authorization: Bearer <key>` (RFC 6750);
   * undefined when it carries none of ours.
   */
  digestIn(headers: HttpHeaders): string | undefined {
    const given = /^bearer +(.*)$/i.exec(headers.get('authorization') ?? '')?.[1]
    const digest = sha256(given ?? '')
    let matches = 0
    for (const other of this.#digests) matches += isEqual(digest, other)
    if (given === undefined) return undefined
    if (matches > 0) return digest
    this.#refused()
    return undefined
  }
}

/** 1 or 0, in the same time. Both have the same length. */
function isEqual(one: string, other: string): 0 | 1 {
  let difference = 0
  for (let at = 0; at < one.length; at++) difference |= one.charCodeAt(at) ^ other.charCodeAt(at)
  return difference === 0 ? 1 : 0
}
