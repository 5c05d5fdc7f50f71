import { type ChallengeEmulator, startChallengeEmulator } from '../emulators/challenge/server.ts'
import type { EmulatorOptions } from '../emulators/challenge/emulator.ts'
import type { ProviderName } from '../emulators/challenge/providers.ts'
import type { Site } from '../emulators/challenge/tokens.ts'

export interface ChallengeWorld extends AsyncDisposable {
  readonly emulator: ChallengeEmulator
  readonly site: Site
  /** Settings with which the service verifies tokens of this site. */
  readonly env: Readonly<Record<string, string>>
  /** A fresh token of the site's widget. */
  token(): string
}

/** Starts an emulated provider with one site. */
export async function createChallengeWorld(
  provider: ProviderName = 'turnstile',
  options: EmulatorOptions = {},
): Promise<ChallengeWorld> {
  const emulator = await startChallengeEmulator(options)
  const site = emulator.createSite(provider)
  return {
    emulator,
    site,
    env: {
      CHALLENGE_PROVIDER: provider,
      CHALLENGE_SITE_KEY: site.siteKey,
      CHALLENGE_SECRET_KEY: site.secret,
      CHALLENGE_VERIFY_URL: emulator.verifyUrl(provider),
      CHALLENGE_SCRIPT_URL: emulator.scriptUrl(provider),
    },
    token: () => emulator.issueToken(site),
    [Symbol.asyncDispose]: () => emulator[Symbol.asyncDispose](),
  }
}
