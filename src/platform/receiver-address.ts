import ipaddr from 'ipaddr.js'

const near: ReadonlySet<string> = new Set(['loopback', 'private', 'uniqueLocal'])

/**
 * Why no message may go to this IP address by this protocol (`https:` or `http:`); undefined when it may.
 * HTTP stays on this machine and in its network. Link-local addresses have what clouds tell their machines.
 */
export function whyNoReceiver(protocol: string, address: string): string | undefined {
  const range = ipaddr.isValid(address) ? ipaddr.process(address).range() : 'unknown'
  if (range === 'linkLocal' || isOfMetadata(address))
    return `${address} is a link-local address, and gets no messages`
  if (protocol === 'https:' || near.has(range)) return undefined
  return `${address} is not a private or loopback address, and messages go there by HTTPS only`
}

/** The same for the host of a URL, as far as it can be known without looking a name up. */
export function whyNoReceiverAt({ protocol, hostname }: URL): string | undefined {
  const host = hostname.replace(/^\[|\]$/g, '')
  return ipaddr.isValid(host) ? whyNoReceiver(protocol, host) : undefined
}

/** Forms of 169.254.0.0/16 in IPv6: NAT64 (RFC 6052), 6to4 (RFC 3056), SIIT (RFC 2765), and what AWS has instead. */
const metadataInIpv6 = [
  '64:ff9b::a9fe:0/112',
  '2002:a9fe::/32',
  '::ffff:0:a9fe:0/112',
  'fd00:ec2::254/128',
]

function isOfMetadata(address: string): boolean {
  if (!ipaddr.IPv6.isValid(address)) return false
  const parsed = ipaddr.IPv6.parse(address)
  return metadataInIpv6.some((range) => parsed.match(ipaddr.IPv6.parseCIDR(range)))
}
