import { Turns } from '../../../src/intake/idempotency.ts'
import { store, type StoreParts } from '../../../src/intake/store.ts'
import { Client } from '../../../src/http/client.ts'
import type { Exchange } from '../../../src/http/exchange.ts'
import { signupIds } from '../../../src/signup/id.ts'
import { nameOf } from '../make-signup.ts'
import type { SignupRequest } from '../visitors.ts'

type SimulatedExchange = Pick<Exchange, 'requestId' | 'client' | 'signups' | 'take' | 'takeReplays'>

/** The request of a client without a limit. */
const exchangeWith = (signups: number): SimulatedExchange => ({
  requestId: 'simulated',
  client: new Client({ remoteAddress: undefined, forwardedFor: null, trustedProxies: 0 }),
  signups,
  take: () => undefined,
  takeReplays: () => undefined,
})

/** Intake of one process, from the parsed signups to the answer. It dies with the process. */
export class SimulatedIntake {
  readonly #parts: StoreParts

  constructor(parts: Pick<StoreParts, 'journal' | 'events' | 'clock'>) {
    this.#parts = {
      ...parts,
      challenge: undefined,
      newId: signupIds(),
      turns: new Turns(),
    }
  }

  /** Resolves when all signups are safe. @throws Refusal */
  async take({ tab, emails, key }: SignupRequest): Promise<void> {
    await store(
      {
        signups: emails.map((email) => ({
          email,
          sheetTab: tab,
          source: 'api',
          name: nameOf(Number(/\d+/.exec(email)?.[0])),
          tags: [],
          metadata: '',
          fields: {},
        })),
        challengeToken: undefined,
        idempotency:
          key === undefined ? undefined : { space: '', key, fingerprint: emails.join(' ') },
      },
      exchangeWith(emails.length) as Exchange,
      this.#parts,
    )
  }
}
