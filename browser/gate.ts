import type { ConfigAnswer } from '../src/signup/wire.ts'
import { type Challenge, type ChallengeSetup, showChallenge } from './challenge.ts'
import { once } from './once.ts'
import { readConfig } from './service.ts'

export interface GateSetup extends Omit<ChallengeSetup, 'config'> {
  /** Aborts when the form and its challenge are removed. */
  readonly signal: AbortSignal
}

/** Tells whether a form needs a challenge, or whether nobody can sign up just now. */
export type Gate = ReturnType<typeof createGate>

export function createGate(setup: GateSetup) {
  const { endpoint, language, signal } = setup
  const read = () => once(() => readConfig(endpoint, language))
  let config = read()
  const show = once(async () => {
    const challenge = await showChallenge({ ...setup, config: await config() })
    if (signal.aborted) challenge.remove()
    signal.addEventListener('abort', challenge.remove)
    return challenge
  })
  return {
    /** What the service says, read once. Rejects as `readConfig`, and reads again after that. */
    config: (): Promise<ConfigAnswer> => config(),
    /** Reads it again when it is needed next, because it may have changed. */
    forget: () => (config = read()),
    /**
     * Shows the challenge, if there is one.
     *
     * @throws Told when nobody can sign up or the challenge cannot be shown, or another error when the service does
     *   not answer
     */
    open: async (): Promise<Challenge | undefined> => {
      const { challengeEnabled } = await config()
      return challengeEnabled && !signal.aborted ? show() : undefined
    },
  }
}
