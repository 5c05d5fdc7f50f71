import ipaddr from 'ipaddr.js'

const near: ReadonlySet<string> = new Set(['loopback', 'private', 'uniqueLocal'])

/**
 * Why no message may go to this IP address by this protocol (`https:` or `http:`); undefined when it may.
 * HTTP stays on this machine and in its network. Link-local addresses have what clouds tell their machines.
 */
export function whyNoReceiver(protocol: string, address: string): string | undefined {
  const range = ipaddr.isValid(address) ? ipaddr.process(address).range() : 'unknown'
  if (range === 'linkLocal') return `${address} is a link-local address, and gets no messages`
  if (protocol === 'https:' || near.has(range)) return undefined
  return `${address} is not a private or loopback address, and messages go there by HTTPS only`
}

/** The same for the host of a URL, as far as it can be known without looking a name up. */
export function whyNoReceiverAt({ protocol, hostname }: URL): string | undefined {
  const host = hostname.replace(/^\[|\]$/g, '')
  return ipaddr.isValid(host) ? whyNoReceiver(protocol, host) : undefined
}
