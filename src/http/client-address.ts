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
  const { remoteAddress, forwardedFor, trustedProxies } = input
  const direct = countedAddress(remoteAddress ?? '')
  if (trustedProxies === 0) {
    // It may be a proxy with many clients behind it.
    return {
      address: direct !== undefined && isPrivate(direct) ? undefined : (direct ?? 'unknown'),
    }
  }
  const forwarded = countedAddress(forwardedFor?.split(',').at(-trustedProxies) ?? '')
  if (forwarded !== undefined) return { address: forwarded }
  return { address: direct ?? 'unknown', warning: forwardedWarning }
}

const forwardedWarning =
  'A signup came without the entries in X-Forwarded-For that TRUST_PROXY promises and was counted ' +
  'by the address of its connection. Either it went around the proxies, or TRUST_PROXY is too high.'

/** Undefined when it is no address. Takes ports, brackets, zones and IPv4 in IPv6. */
export function countedAddress(text: string): string | undefined {
  if (isIPv4(text)) return text
  const bare = text
    .trim()
    .replace(/^\[(.*)\](?::\d+)?$/, '$1')
    .replace(/^([\d.]+):\d+$/, '$1')
    .replace(/%.*$/, '')
  if (isIPv4(bare)) return bare
  const groups = ipv6Groups(bare)
  if (!groups) return undefined
  const [, , , , , marker = 0, high = 0, low = 0] = groups
  if (groups.slice(0, 5).every((group) => group === 0) && marker === 0xffff) {
    return [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.')
  }
  // The loopback address keeps its last bits: without them it would be "::", which means none.
  if (groups.slice(0, 7).every((group) => group === 0)) return `::${low.toString(16)}`
  const network = groups.slice(0, 4).map((group) => group.toString(16))
  return `${network.join(':')}::/64`
}

/** Whether a counted address is of a network that is not the public one. */
export function isPrivate(address: string): boolean {
  return privateIPv4.test(address) || privateIPv6.test(address)
}

/** RFC 1918, loopback, link-local, and 100.64/10, in which hosters put their load balancers. */
const privateIPv4 =
  /^(10|127|192\.168|169\.254|172\.(1[6-9]|2\d|3[01])|100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7]))\./
/** Loopback, unique local (fc00::/7) and link-local (fe80::/10). */
const privateIPv6 = /^(::1$|f[cd][0-9a-f]{2}:|fe[89ab][0-9a-f]:)/

const octet = '(25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)'
const ipv4 = new RegExp(`^${octet}(\\.${octet}){3}$`)

function isIPv4(text: string): boolean {
  return ipv4.test(text)
}

/** The eight groups of an IPv6 address. The parser of URLs knows the notation and gives the shortest. */
function ipv6Groups(text: string): readonly number[] | undefined {
  if (!/^[0-9a-f:.]{2,45}$/i.test(text)) return undefined
  const shortest = URL.parse(`http://[${text}]`)?.hostname.slice(1, -1)
  if (shortest === undefined) return undefined
  const [head = '', tail] = shortest.split('::')
  const start = hexGroups(head)
  const end = hexGroups(tail ?? '')
  return [...start, ...Array<number>(8 - start.length - end.length).fill(0), ...end]
}

function hexGroups(text: string): readonly number[] {
  return text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16))
}
