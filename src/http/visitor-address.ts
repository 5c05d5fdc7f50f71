import {
  type ClientAddressInput,
  countedAddress,
  forwardedEntry,
  isPrivate,
} from './client-address.ts'

/**
 * The visitor's own address in full, as the challenge's provider may compare it; undefined when all
 * that is known is a proxy's, or one of a private network.
 */
export function visitorAddress(input: ClientAddressInput): string | undefined {
  const text = input.trustedProxies === 0 ? input.remoteAddress : forwardedEntry(input)
  if (text === undefined) return undefined
  const counted = countedAddress(text)
  if (counted === undefined || isPrivate(counted)) return undefined
  if (!counted.includes(':')) return counted
  return text.replace(/^\[(.*)\](?::\d+)?$/, '$1').replace(/%.*$/, '')
}
