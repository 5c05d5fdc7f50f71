import { type Challenge, type ChallengeSetup, showChallenge } from './challenge.ts'
import { once } from './once.ts'
import { isClosed, readConfig } from './service.ts'
import { Told } from './told.ts'

export interface GateSetup extends Pick<ChallengeSetup, 'language' | 'nonce'> {
  /** The address for signups, `…/api/signup`. */
  readonly endpoint: string
  readonly theme: () => string
  /** Makes the element for the challenge's widget, outside of any shadow root. */
  readonly challengeBox: () => HTMLElement
  /** Aborts when the form and its widget are removed. */
  readonly signal: AbortSignal
}

/** Tells whether a form needs a challenge, or whether nobody can sign up just now. */
export interface Gate {
  /**
   * Shows the challenge, if there is one.
   *
   * @throws Told when the challenge cannot be shown, or another error when the service does not answer
   */
  open(): Promise<Challenge | undefined>
}

export function createGate(setup: GateSetup): Gate {
  const { endpoint, signal } = setup
  let box: HTMLElement | undefined
  signal.addEventListener('abort', () => box?.remove())
  const show = once(async () => {
    const config = await readConfig(endpoint)
    box ??= setup.challengeBox()
    try {
      const challenge = await showChallenge({ ...setup, config, box, theme: setup.theme() })
      if (signal.aborted) challenge.remove()
      signal.addEventListener('abort', challenge.remove)
      return challenge
    } catch (error) {
      box.replaceChildren()
      throw error
    }
  })
  return {
    open: async () => {
      const config = await readConfig(endpoint)
      if (isClosed(config)) throw new Told('unavailable')
      return config.challengeEnabled && !signal.aborted ? show() : undefined
    },
  }
}
