import { type Clock, type Random, systemClock } from '../platform/clock.ts'
import type { HttpClient } from '../platform/http-client.ts'
import { httpClient } from '../platform/node/http-client.ts'
import { type SignAssertion, signWith } from '../spreadsheet/google/sign-assertion.ts'

/**
 * What a service needs of the world besides its settings and its folder. Tests, benches and the
 * simulation bring their own parts; everything else is wired the same for all.
 */
export interface World {
  readonly clock: Clock
  readonly random: Random
  /** How the spreadsheet's and the challenge's providers are called. */
  readonly http: HttpClient
  /** Signs for the service account, with its private key (PKCS#8, PEM). */
  readonly signWith: (privateKey: string) => SignAssertion
}

export const realWorld: World = {
  clock: systemClock,
  random: Math.random,
  http: httpClient,
  signWith,
}
