import { isEqual, sha256 } from '../platform/digest.ts'
import type { HttpHeaders } from '../platform/http-exchange.ts'
import type { EdgeSite } from './sites.ts'

interface Asking {
  readonly request: { readonly headers: HttpHeaders }
  readonly knownSite?: EdgeSite | undefined
}

/** Keys that allow something, such as bulk signups. A given key is compared with every digest, in constant time. */
export class ApiKeys {
  readonly #digests: readonly string[]
  readonly #refused: (site: EdgeSite | undefined) => void

  /** @param refused called for each request with an unknown key, with the site that its address names */
  constructor(keys: readonly string[], refused: (site: EdgeSite | undefined) => void = () => {}) {
    this.#digests = keys.map(sha256)
    this.#refused = refused
  }

  /** Whether there are any keys. If so, requests need one. */
  get areSet(): boolean {
    return this.#digests.length > 0
  }

  /**
   * The digest of the key in `Authorization: Bearer <key>` (RFC 6750); undefined when the header
   * is missing or the key is unknown.
   */
  digestIn({ request: { headers }, knownSite }: Asking): string | undefined {
    const given = /^bearer +(.*)/i.exec(headers.get('authorization') ?? '')?.[1]
    const digest = sha256(given ?? '')
    let matches = 0
    for (const other of this.#digests) matches += Number(isEqual(digest, other))
    if (given === undefined) return undefined
    if (matches > 0) return digest
    this.#refused(knownSite)
    return undefined
  }
}
