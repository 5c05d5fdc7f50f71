import ipaddr from 'ipaddr.js'
import { remember } from '../platform/remember.ts'
import type { Share } from '../platform/share.ts'

const { IPv4, IPv6 } = ipaddr

/** A public address's part of all connections and of the space for arriving bodies. Enough for an office. */
const publicPart = 1 / 8
/** A private address gets more, as it may be an unconfigured proxy. The rest stays free for other clients. */
const privatePart = 3 / 4

/** Stands for the address of a connection that is closed already. */
const unknownAddress = 'unknown'

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
    return (this.#address ??= clientAddress(this.#sender))
  }

  /** The key by which limits count this client; undefined when no limit counts it. */
  get rateLimitKey(): string | undefined {
    return this.apiKey === undefined ? this.counted.address : undefined
  }

  /**
   * The visitor's full address, for the challenge provider to compare. Undefined when only the address
   * of a proxy or of a private network is known.
   */
  get visitorAddress(): string | undefined {
    const { trustedProxies, remoteAddress } = this.#sender
    const text = (trustedProxies === 0 ? remoteAddress : forwardedEntry(this.#sender)) ?? ''
    const counted = countedAddress(text)
    if (counted === undefined || isPrivate(counted)) return undefined
    return counted.includes(':') ? bareAddress(text) : counted
  }

  /** The visitor's address as limits count it; undefined when `visitorAddress` is. */
  get publicAddress(): string | undefined {
    const { address = unknownAddress, warning } = this.counted
    const isKnown = address !== unknownAddress && warning === undefined
    return isKnown && !isPrivate(address) ? address : undefined
  }

  /** The part of a shared resource that this client may use. */
  get share(): Share {
    const direct = countedAddress(this.#sender.remoteAddress ?? '') ?? unknownAddress
    return shareOf(this.counted.address ?? direct)
  }
}

/** The share of the other end of a connection; undefined, meaning no limit, for a trusted proxy. */
export function connectionShare(remoteAddress: string, trustedProxies: number): Share | undefined {
  return trustedProxies > 0 ? undefined : shareOf(countedAddress(remoteAddress) ?? unknownAddress)
}

function shareOf(client: string): Share {
  return { client, part: isPrivate(client) ? privatePart : publicPart }
}

export interface ClientAddressInput {
  /** The address at the other end of the connection; undefined when it is already closed. */
  readonly remoteAddress: string | undefined
  readonly forwardedFor: string | null
  readonly trustedProxies: number
}

export interface ClientAddress {
  /** The key by which the client's signups are counted; undefined when they are not counted. */
  readonly address: string | undefined
  /** Tells the operator what makes the count wrong. */
  readonly warning?: string
}

/**
 * The address by which a client is counted: an IPv4 address, or the first 64 bits of an IPv6
 * address, because one customer of a network has at least that whole range.
 *
 * Each proxy appends its caller's address to `X-Forwarded-For`. Entries left of those by trusted
 * proxies came from the client and may be forged.
 */
export function clientAddress(input: ClientAddressInput): ClientAddress {
  const direct = countedAddress(input.remoteAddress ?? '') ?? unknownAddress
  // A private address is not counted: it may be a proxy with many clients behind it.
  if (input.trustedProxies === 0) return { address: isPrivate(direct) ? undefined : direct }
  const address = countedAddress(forwardedEntry(input) ?? '')
  return address === undefined ? { address: direct, warning: forwardedWarning(input) } : { address }
}

/** The entry that the outermost trusted proxy wrote for its caller, as it is; undefined when there is none. */
function forwardedEntry({ forwardedFor, trustedProxies }: ClientAddressInput): string | undefined {
  return forwardedFor?.split(',').at(-trustedProxies)
}

function forwardedWarning({ forwardedFor }: ClientAddressInput): string {
  const entries = forwardedFor?.split(',').length ?? 0
  return (
    'A signup came without the entries in X-Forwarded-For that TRUST_PROXY promises and was counted ' +
    `by the address of its connection. It had ${entries}. Either it went around the proxies, or TRUST_PROXY ` +
    'is too high: set it to the number of proxies that a signup of a visitor passes.'
  )
}

/** How many parsed addresses are kept: parsing takes 2 µs for IPv4, 30 µs for IPv6, and clients return. */
const addressesKept = 1000
/** Room for an IPv6 address with a zone, brackets, a port and some spaces. */
const charactersMax = 80

/**
 * The counted form of an address, which may have a port, brackets, a zone, or be IPv4 in IPv6.
 * Undefined when the text is no address.
 */
export function countedAddress(text: string): string | undefined {
  return text.length > charactersMax ? undefined : parseAddress(text)
}

/** The address without brackets, port and zone. */
function bareAddress(text: string): string {
  return text
    .trim()
    .replace(/^\[(.*)\](?::\d+)?$/, '$1')
    .replace(/^([\d.]+):\d+$/, '$1')
    .replace(/%.*/, '')
}

const parseAddress = remember(addressesKept, (text) => {
  const bare = bareAddress(text)
  if (IPv4.isValidFourPartDecimal(bare)) return bare
  if (!IPv6.isValid(bare)) return undefined
  const address = IPv6.parse(bare)
  if (address.isIPv4MappedAddress()) return address.toIPv4Address().toString()
  // Cut to 64 bits, the loopback address would become "::", which means no address.
  if (address.range() === 'loopback') return address.toString()
  const network = address.parts.slice(0, 4).map((group) => group.toString(16))
  return `${network.join(':')}::/64`
})

/** Whether a counted address belongs to a private network. */
export const isPrivate = remember(addressesKept, (counted) => {
  const [address = ''] = counted.split('/')
  return ipaddr.isValid(address) && notPublic.has(ipaddr.parse(address).range())
})

/** Includes the carriers' range 100.64/10, because hosting providers put load balancers there. */
const notPublic: ReadonlySet<string> = new Set([
  ...['private', 'loopback', 'linkLocal', 'uniqueLocal', 'carrierGradeNat'],
])
