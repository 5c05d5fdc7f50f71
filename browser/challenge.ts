import type { ConfigAnswer } from '../src/signup/wire.ts'
import { Told } from './told.ts'

export interface ChallengeSetup {
  readonly config: ConfigAnswer
  /** The address for signups, `…/api/signup`. */
  readonly endpoint: string
  /** Makes the element for a widget, outside of any shadow root, so that the provider's script finds it. */
  readonly challengeBox: () => HTMLElement
  readonly language: string
  readonly theme: () => string
  /** The nonce of our own script tag. Under a strict CSP the provider's script needs it, too. */
  readonly nonce: string
}

export interface Challenge {
  /** Called at each focus, so that a token may be ready in time. */
  readonly begin?: () => void
  /** Resolves with the current token. `onWait` is called when it must wait, and again when it has the token. */
  readonly token: (onWait: (why: 'checking' | 'sending') => void) => Promise<string | undefined>
  /** Call after each answer, because a token is valid for one request. */
  readonly reset: () => void
  readonly remove: () => void
}

/** A file that a form loads when the service has a challenge. */
interface Part {
  /** @throws Told when the challenge cannot be shown; `token` throws it, too */
  showChallenge(setup: ChallengeSetup): Promise<Challenge>
}

let failures = 0

/**
 * Loads the code for the provider of the challenge and shows it.
 *
 * @throws Told when the challenge cannot be shown; `token` throws it, too
 */
export async function showChallenge(setup: ChallengeSetup): Promise<Challenge> {
  const name = setup.config.challengeProvider === 'altcha' ? 'puzzle' : 'widget'
  // Browsers remember a failed import, so each try uses another address.
  const path = `./${name}.js${'?'.repeat(failures)}`
  const part = (await import(path).catch(() => {
    failures++
    throw new Told('checkBlocked')
  })) as Part
  return part.showChallenge(setup)
}
