import ipaddr from 'ipaddr.js'
import { remember } from '../platform/remember.ts'

const { IPv4, IPv6 } = ipaddr

export interface ClientAddressInput {
  /** The other end of the connection; undefined when it is gone already. */
  readonly remoteAddress: string | undefined
  readonly forwardedFor: string | null
  readonly trustedProxies: number
}

export interface ClientAddress {
  /** By which a client is counted; undefined: not at all. */
  readonly address: string | undefined
  /** What the operator should know, as it makes the count wrong. */
  readonly warning?: string
}

/**
 * The address by which a client is counted: an IPv4 address, or the first 64 bits of an IPv6
 * address, which is what one customer of a network has at least.
 *
 * Each proxy appends the address it was called from to `X-Forwarded-For`. What stands left of the
 * trusted ones was sent by the client and may be anything.
 */
export function clientAddress(input: ClientAddressInput): ClientAddress {
  const { remoteAddress, trustedProxies } = input
  const direct = countedAddress(remoteAddress ?? '')
  if (trustedProxies === 0) {
    // It may be a proxy with many clients behind it.
    return {
      address: direct !== undefined && isPrivate(direct) ? undefined : (direct ?? 'unknown'),
    }
  }
  const forwarded = countedAddress(forwardedEntry(input) ?? '')
  if (forwarded !== undefined) return { address: forwarded }
  return { address: direct ?? 'unknown', warning: forwardedWarning }
}

/** What the first of the trusted proxies wrote of who called it; undefined when there is no such entry. */
export function forwardedEntry({
  forwardedFor,
  trustedProxies,
}: Pick<ClientAddressInput, 'forwardedFor' | 'trustedProxies'>): string | undefined {
  return forwardedFor?.split(',').at(-trustedProxies)?.trim()
}

const forwardedWarning =
  'A signup came without the entries in X-Forwarded-For that TRUST_PROXY promises and was counted ' +
  'by the address of its connection. Either it went around the proxies, or TRUST_PROXY is too high.'

/** The library takes 2 µs for an IPv4 address and 30 for IPv6, and the same clients come again. */
const addressesKept = 1000
/** An IPv6 address with a zone, brackets and a port, and some space. */
const charactersMax = 80

/** Undefined when it is no address. Takes ports, brackets, zones and IPv4 in IPv6. */
export function countedAddress(text: string): string | undefined {
  return text.length > charactersMax ? undefined : parseAddress(text)
}

const parseAddress = remember(addressesKept, (text) => {
  const bare = text
    .trim()
    .replace(/^\[(.*)\](?::\d+)?$/, '$1')
    .replace(/^([\d.]+):\d+$/, '$1')
    .replace(/%.*$/, '')
  if (IPv4.isValidFourPartDecimal(bare)) return bare
  if (!IPv6.isValid(bare)) return undefined
  const address = IPv6.parse(bare)
  if (address.isIPv4MappedAddress()) return address.toIPv4Address().toString()
  // Without its last bits the loopback address would be "::", which means none.
  if (address.range() === 'loopback') return address.toString()
  const network = address.parts.slice(0, 4).map((group) => group.toString(16))
  return `${network.join(':')}::/64`
})

/** Whether a counted address is of a network that is not the public one. */
export const isPrivate = remember(addressesKept, (counted) => {
  const [address = ''] = counted.split('/')
  return ipaddr.isValid(address) && notPublic.has(ipaddr.parse(address).range())
})

/** Hosters put their load balancers into 100.64/10, which is for carriers. */
const notPublic: ReadonlySet<string> = new Set([
  ...['private', 'loopback', 'linkLocal', 'uniqueLocal', 'carrierGradeNat'],
])
