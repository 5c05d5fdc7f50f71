import { loadConfig } from '../src/config/config.ts'
import type { Config } from '../src/config/config.ts'
import type { Secrets } from '../src/config/secrets.ts'
import { httpClient } from '../src/platform/node/http-client.ts'
import type { World } from '../src/service/world.ts'
import { signWith } from '../src/spreadsheet/google/access-token.ts'
import type { HurriedClock } from './hurried-clock.ts'
import { googleSettings } from './world.ts'

/** The settings of a service that delivers the signups in `dataDir` to a stand-in for Google. */
export function deliverySettings(
  dataDir: string,
  providerUrl: string,
  more: Readonly<Record<string, string>> = {},
): { readonly config: Config; readonly secrets: Secrets } {
  return loadConfig({
    variables: { ...googleSettings(providerUrl), DATA_DIR: dataDir, ...more },
    folder: dataDir,
    readText: (path) => {
      throw new Error(`A bench reads no files, but a setting names ${path}.`)
    },
  })
}

/** The duration of a call to the Sheets API in milliseconds. Others measured 250 to 450. */
const callMs = 350

/** A world that skips waits, except while it makes a call or signs. Each call takes 350 ms longer. */
export function hurriedWorld(clock: HurriedClock): Pick<World, 'clock' | 'http' | 'signWith'> {
  return {
    clock,
    async http(request) {
      await clock.sleep(callMs, request.signal)
      return clock.during(() => httpClient(request))
    },
    signWith(privateKey) {
      const sign = signWith(privateKey)
      return (claims) => clock.during(() => sign(claims))
    },
  }
}
