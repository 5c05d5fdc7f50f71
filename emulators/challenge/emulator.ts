import { type EmulatorClock, realClock } from '../google-sheets/clock.ts'
import { planFaults } from './faults.ts'
import { providerRules, type ProviderName } from './providers.ts'
import { type Site, TokenOffice } from './tokens.ts'

export interface EmulatorOptions {
  readonly clock?: EmulatorClock
}

/** One siteverify call that came in. */
export interface LoggedCall {
  readonly fields: Readonly<Record<string, string>>
  /** The provider's verdict; undefined when a fault kept the call from being carried out. */
  readonly verdict: Readonly<Record<string, unknown>> | undefined
}

export interface Counters {
  /** All calls of siteverify. */
  readonly calls: number
  readonly passed: number
  readonly refused: number
  /** Calls that faults kept from being carried out. */
  readonly lost: number
  /** Scripts that pages have loaded. */
  readonly scripts: number
  /** Tokens that widgets have got. */
  readonly solved: number
}

/** What the widgets and their scripts do. */
export interface WidgetSwitches {
  /** `pass`: a token. `error`: the error callback. `interactive`: a box to tick before the token. */
  readonly outcome: 'pass' | 'error' | 'interactive'
  /** The life of tokens in milliseconds; 0: that of the provider. */
  readonly expireAfterMs: number
  /** `missing`: 404. `hang`: no answer ever comes. */
  readonly script: 'ok' | 'missing' | 'hang'
}

/** What a widget's frame says about its page. */
export interface SolveRequest {
  readonly provider: ProviderName
  readonly siteKey: string
  readonly hostname: string
  /** Whether the visitor has ticked the box. */
  readonly ticked: boolean
}

export type Solution =
  | { readonly kind: 'token'; readonly token: string; readonly lifeMs: number }
  | { readonly kind: 'interactive' }
  | { readonly kind: 'error'; readonly code: string }

/** The codes of Turnstile for an unknown site key and for a failed challenge. */
const unknownSite = '110100'
const failedChallenge = '600010'

/** The emulated providers without their HTTP server: sites, tokens, faults, switches and the log. */
export class EmulatedChallenge {
  readonly clock: EmulatorClock
  readonly office = new TokenOffice()
  readonly faults = planFaults()
  readonly calls: LoggedCall[] = []
  widget: WidgetSwitches = { outcome: 'pass', expireAfterMs: 0, script: 'ok' }
  scripts = 0
  solved = 0

  constructor({ clock = realClock }: EmulatorOptions = {}) {
    this.clock = clock
  }

  get counters(): Counters {
    const verdicts = this.calls.map(({ verdict }) => verdict?.['success'])
    const count = (success: unknown) => verdicts.filter((verdict) => verdict === success).length
    return {
      calls: this.calls.length,
      passed: count(true),
      refused: count(false),
      lost: count(undefined),
      scripts: this.scripts,
      solved: this.solved,
    }
  }

  /** Makes a token as the site's widget would, without a page. */
  issueToken(site: Site, content: { hostname?: string; lifeMs?: number } = {}): string {
    return this.office.issue(site, this.clock.now(), content)
  }

  /** The answer to a widget's frame. */
  solve({ provider, siteKey, hostname, ticked }: SolveRequest): Solution {
    const site = this.office.siteOf(provider, { siteKey })
    if (!site) return { kind: 'error', code: unknownSite }
    const { outcome, expireAfterMs } = this.widget
    if (outcome === 'error') return { kind: 'error', code: failedChallenge }
    if (outcome === 'interactive' && !ticked) return { kind: 'interactive' }
    this.solved += 1
    const lifeMs = expireAfterMs || providerRules[provider].tokenLifeMs
    return { kind: 'token', token: this.issueToken(site, { hostname, lifeMs }), lifeMs }
  }
}
