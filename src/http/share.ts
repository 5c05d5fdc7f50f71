import type { Share } from '../platform/share.ts'
import {
  clientAddress,
  type ClientAddressInput,
  countedAddress,
  isPrivate,
} from './client-address.ts'

/** Of connections, and of the space for bodies on their way. An office behind one address is well within. */
const publicPart = 1 / 8
/** It may be a proxy that nobody told us of, with all clients behind it; something is left for the others. */
const privatePart = 3 / 4

/** What the other end of a connection may hold. Undefined: all of it, as a trusted proxy speaks for everybody. */
export function connectionShare(remoteAddress: string, trustedProxies: number): Share | undefined {
  return trustedProxies > 0 ? undefined : shareOf(countedAddress(remoteAddress) ?? 'unknown')
}

/** What the client of a request may hold, by its own address. */
export function clientShare(input: ClientAddressInput): Share {
  const direct = countedAddress(input.remoteAddress ?? '') ?? 'unknown'
  return shareOf(clientAddress(input).address ?? direct)
}

function shareOf(client: string): Share {
  return { client, part: isPrivate(client) ? privatePart : publicPart }
}
