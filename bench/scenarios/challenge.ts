import { alternate, inWords, ratios } from '../alternate.ts'
import { requestsPerSecond, usualBody } from '../load.ts'
import { atLeast, type Scenario } from '../scenario.ts'
import { World } from '../world.ts'

const connections = 256
const delayMs = 20

/**
 * The rate of signups with a challenge provider that answers after 20 ms, divided by the rate without.
 * With 256 connections the rate cannot exceed 256 / 0.02 s = 12,800 signups a second.
 */
export const challengeScenario: Scenario = {
  name: 'challenge',
  what: `the same with the challenge on (provider at ${delayMs} ms), against off, ${connections} connections`,
  unit: '×',
  reach: atLeast(0.5),
  aim: atLeast(0.7),
  async run(sizes) {
    await using world = await World.create()
    const provider = await world.provider()
    const verifier = await world.provider({ delayMs })
    const off = await world.service(provider)
    const on = await world.service(provider, {
      env: {
        CHALLENGE_SITE_KEY: 'bench-site-key',
        CHALLENGE_SECRET_KEY: 'bench-secret-key',
        CHALLENGE_VERIFY_URL: `${verifier.url}/siteverify`,
      },
    })
    const slice = (body: string) => (url: string, seconds: number) =>
      requestsPerSecond({
        url: `${url}/api/signup`,
        connections,
        seconds,
        body,
        folder: world.folder,
      })
    const withToken = JSON.stringify({ ...JSON.parse(usualBody), challengeToken: 'token-%d' })
    const rates = await alternate(
      { service: off, slice: slice(usualBody) },
      { service: on, slice: slice(withToken) },
      sizes,
    )
    return { values: ratios(rates), note: inWords(rates) }
  },
}
