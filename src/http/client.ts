import type { Share } from '../platform/share.ts'
import {
  type ClientAddress,
  clientAddress,
  type ClientAddressInput,
  countedAddress,
  isPrivate,
  visitorAddress,
} from './client-address.ts'

/** A public address's part of all connections and of the space for arriving bodies. Enough for an office. */
const publicPart = 1 / 8
/** A private address gets more, as it may be an unconfigured proxy. The rest stays free for other clients. */
const privatePart = 3 / 4

/** Who has sent a request. What is known is worked out on first use, because few handlers need it. */
export class Client {
  /** The digest of its valid API key. Requests with a key are not counted. */
  apiKey: string | undefined
  readonly #sender: ClientAddressInput
  #address: ClientAddress | undefined

  constructor(sender: ClientAddressInput) {
    this.#sender = sender
  }

  /** The address that limits count, if there is one; and why clients may be counted wrongly. */
  get counted(): ClientAddress {
    this.#address ??= clientAddress(this.#sender)
    return this.#address
  }

  /** The key by which limits count this client; undefined when no limit counts it. */
  get rateLimitKey(): string | undefined {
    return this.apiKey === undefined ? this.counted.address : undefined
  }

  /** The visitor's own address; undefined when only a proxy's address is known. */
  get visitorAddress(): string | undefined {
    return visitorAddress(this.#sender)
  }

  /** The part of a shared resource that this client may use. */
  get share(): Share {
    const direct = countedAddress(this.#sender.remoteAddress ?? '') ?? 'unknown'
    return shareOf(this.counted.address ?? direct)
  }
}

/** The share of the other end of a connection; undefined, meaning no limit, for a trusted proxy. */
export function connectionShare(remoteAddress: string, trustedProxies: number): Share | undefined {
  return trustedProxies > 0 ? undefined : shareOf(countedAddress(remoteAddress) ?? 'unknown')
}

function shareOf(client: string): Share {
  return { client, part: isPrivate(client) ? privatePart : publicPart }
}
