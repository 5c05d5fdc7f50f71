import type { Share } from '../platform/share.ts'
import {
  clientAddress,
  type ClientAddressInput,
  countedAddress,
  isPrivate,
} from './client-address.ts'

/** A public address's part of all connections and of the space for arriving bodies. Enough for an office. */
const publicPart = 1 / 8
/** A private address gets more, as it may be an unconfigured proxy. The rest stays free for other clients. */
const privatePart = 3 / 4

/** The share of the other end of a connection; undefined, meaning no limit, for a trusted proxy. */
export function connectionShare(remoteAddress: string, trustedProxies: number): Share | undefined {
  return trustedProxies > 0 ? undefined : shareOf(countedAddress(remoteAddress) ?? 'unknown')
}

/** The share of a request's client, by its own address. */
export function clientShare(input: ClientAddressInput): Share {
  const direct = countedAddress(input.remoteAddress ?? '') ?? 'unknown'
  return shareOf(clientAddress(input).address ?? direct)
}

function shareOf(client: string): Share {
  return { client, part: isPrivate(client) ? privatePart : publicPart }
}
