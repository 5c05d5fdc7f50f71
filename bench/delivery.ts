import { loadConfig } from '../src/config/config.ts'
import type { Config } from '../src/config/config.ts'
import type { Secrets } from '../src/config/secrets.ts'
import { httpClient } from '../src/platform/node/http-client.ts'
import type { World } from '../src/service/world.ts'
import { signWith } from '../src/spreadsheet/google/sign-assertion.ts'
import type { HurriedClock } from './hurried-clock.ts'
import { googleSettings } from './world.ts'

/** The settings of a service that delivers what waits in `dataDir` to a stand-in for Google. */
export function deliverySettings(
  dataDir: string,
  providerUrl: string,
  more: Readonly<Record<string, string>> = {},
): { readonly config: Config; readonly secrets: Secrets } {
  return loadConfig({
    variables: { ...googleSettings(providerUrl), DATA_DIR: dataDir, ...more },
    folder: dataDir,
    readText: (path) => {
      throw new Error(`No setting of a bench names a file, but ${path} is wanted.`)
    },
  })
}

/** How long a call to the Sheets API takes, in milliseconds: 250 to 450 were measured by others. */
const callMs = 350

/** A world whose waits are skipped. Calls take 350 ms longer, and signing takes its time. */
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
