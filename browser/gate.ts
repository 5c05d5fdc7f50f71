import { type Challenge, type ChallengeSetup, showChallenge } from './challenge.ts'
import { once } from './once.ts'
import { closedBy, readConfig } from './service.ts'
import { Told } from './told.ts'

export interface GateSetup extends Omit<ChallengeSetup, 'config'> {
  /** Aborts when the form and its challenge are removed. */
  readonly signal: AbortSignal
}

/** Tells whether a form needs a challenge, or whether nobody can sign up just now. */
export type Gate = ReturnType<typeof createGate>

export function createGate(setup: GateSetup) {
  const { endpoint, signal } = setup
  const show = once(async () => {
    const challenge = await showChallenge({ ...setup, config: await readConfig(endpoint) })
    if (signal.aborted) challenge.remove()
    signal.addEventListener('abort', challenge.remove)
    return challenge
  })
  return {
    /**
     * Shows the challenge, if there is one.
     *
     * @throws Told when the challenge cannot be shown, or another error when the service does not answer
     */
    open: async (): Promise<Challenge | undefined> => {
      const config = await readConfig(endpoint)
      const why = closedBy(config)
      if (why) throw new Told(why, 0, undefined, config.notice)
      return config.challengeEnabled && !signal.aborted ? show() : undefined
    },
  }
}
