import type { HttpHeaders } from '../platform/http-exchange.ts'
/** The keys of those who may send bulk signups. Compared by digest, every one, in constant time. */
export class ApiKeys {
  readonly #digests: Promise<readonly Uint8Array[]>
  /** Whether a key is needed. */
  readonly areSet: boolean

  constructor(keys: readonly string[]) {
    this.areSet = keys.length > 0
    this.#digests = Promise.all(keys.map(digestOf))
  }

  /** Whether the request carries one of the keys, as `Authorization: Bearer <key>` (RFC 6750). */
  async areIn(headers: HttpHeaders): Promise<boolean> {
    if (!this.areSet) return false
    const given = /^bearer +(.*)$/i.exec(headers.get('authorization') ?? '')?.[1]
    const digest = await digestOf(given ?? '')
    const known = await this.#digests
    let matches = 0
    for (const other of known) matches += isEqual(digest, other)
    return matches > 0 && given !== undefined
  }
}

async function digestOf(text: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)))
}

/** 1 or 0, in the same time. Both have the same length. */
function isEqual(one: Uint8Array, other: Uint8Array): 0 | 1 {
  let difference = 0
  for (const [index, byte] of one.entries()) difference |= byte ^ (other[index] ?? 0)
  return difference === 0 ? 1 : 0
}
