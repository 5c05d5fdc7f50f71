import {
  bareAddress,
  type ClientAddressInput,
  countedAddress,
  forwardedEntry,
  isPrivate,
} from './client-address.ts'

/**
 * The visitor's full address, for the challenge provider to compare. Undefined when only the address
 * of a proxy or of a private network is known.
 */
export function visitorAddress(input: ClientAddressInput): string | undefined {
  const text = input.trustedProxies === 0 ? input.remoteAddress : forwardedEntry(input)
  if (text === undefined) return undefined
  const counted = countedAddress(text)
  if (counted === undefined || isPrivate(counted)) return undefined
  return counted.includes(':') ? bareAddress(text) : counted
}
