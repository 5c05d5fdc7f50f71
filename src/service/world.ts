import { type Clock, type Random, systemClock } from '../platform/clock.ts'
import type { HttpClient } from '../platform/http-client.ts'
import { type DurableFiles, durableFiles } from '../platform/node/durable-file.ts'
import { httpClient } from '../platform/node/http-client.ts'
import { receiverClient } from '../platform/node/receiver-client.ts'
import { type SignAssertion, signWith } from '../spreadsheet/google/access-token.ts'

/**
 * Time, randomness and the outside world, as the service uses them. Tests, benches and the simulation
 * replace some parts; everything else is wired in the same way.
 */
export interface World {
  readonly clock: Clock
  readonly random: Random
  /** Calls the providers of the spreadsheet and of the challenge. */
  readonly http: HttpClient
  /** Calls the receivers of messages. */
  readonly receiverHttp: HttpClient
  /** Changes the files of the local workbook. */
  readonly files: DurableFiles
  /** Signs with the private key (PKCS#8, PEM) of the service account. */
  readonly signWith: (privateKey: string) => SignAssertion
}

export const realWorld: World = {
  clock: systemClock,
  random: Math.random,
  http: httpClient,
  receiverHttp: receiverClient,
  files: durableFiles,
  signWith,
}
