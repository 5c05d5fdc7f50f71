import { lookup as lookUp, type LookupAddress } from 'node:dns'
import type { LookupFunction } from 'node:net'
import { type HttpClient, HttpFailure } from '../http-client.ts'
import { whyNoReceiver, whyNoReceiverAt } from '../receiver-address.ts'
import { httpClientWith } from './http-client.ts'

type LookUp = (
  host: string,
  options: { readonly all: true },
  done: (error: Error | null, found: LookupAddress[]) => void,
) => void

/**
 * Calls the receivers of messages. Looks at every address of a name when it connects, so that a name
 * cannot change its mind after it was looked at.
 */
export function receiverClientWith(resolve: LookUp): HttpClient {
  const client = httpClientWith({
    'http:': { lookup: guarded('http:', resolve) },
    'https:': { lookup: guarded('https:', resolve) },
  })
  return async (request) => {
    const url = new URL(request.url)
    // Node looks up names only.
    const why = whyNoReceiverAt(url)
    if (why !== undefined) throw new HttpFailure(`${request.method} ${url.origin}: ${why}`)
    return client(request)
  }
}

export const receiverClient = receiverClientWith(lookUp)

function guarded(protocol: string, resolve: LookUp): LookupFunction {
  return (host, options, done) => {
    resolve(host, { ...options, all: true }, (error, found) => {
      if (error) return done(error, [])
      const [first] = found
      const why = first
        ? found.flatMap(({ address }) => whyNoReceiver(protocol, address) ?? [])[0]
        : `${host} has no address`
      if (!first || why !== undefined) done(new Error(why), [])
      else if (options.all) done(null, found)
      else done(null, first.address, first.family)
    })
  }
}
