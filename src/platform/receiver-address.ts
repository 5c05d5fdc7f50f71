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

/** IPv6 addresses, in 32 digits, that lead to 169.254.0.0/16 (a9fe), and what clouds have instead. */
const metadata = [
  /^0{24}a9fe/, // IPv4-compatible (RFC 4291)
  /^0{20}ffffa9fe/, // IPv4-mapped
  /^0{16}ffff0000a9fe/, // SIIT (RFC 2765)
  /^0064ff9b0{16}a9fe/, // NAT64 (RFC 6052)
  /^0064ff9b0001(?:a9fe|..a9..fe|.{6}a9fe|.{12}a9fe)/, // local NAT64 (RFC 8215), by the length of its prefix
  /^2002a9fe/, // 6to4 (RFC 3056)
  /^20010000(?:a9fe|.{16}5601)/, // Teredo (RFC 4380): the server, or the client with all bits inverted
  /^.{16}0[02]005efea9fe/, // ISATAP (RFC 5214)
  /^fd000ec20{20}0(?:254|023)/, // AWS: of a machine, and of a pod (EKS)
  /^fd2000ce0{20}0254/, // Google
  /^fd0000420{20}0042/, // Scaleway
  /^fd00a9fea9fe0{16}0001/, // Akamai (cloud-init)
  /^fd0000c10{16}a9fea9fe/, // Oracle (cloud-init)
]

function isOfMetadata(address: string): boolean {
  if (!ipaddr.IPv6.isValid(address)) return false
  const bytes = ipaddr.IPv6.parse(address).toByteArray()
  const digits = bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('')
  return metadata.some((form) => form.test(digits))
}
