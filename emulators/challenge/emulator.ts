import { type EmulatorClock, realClock } from '../google-sheets/clock.ts'
import { planFaults } from './faults.ts'
import { providerRules, type ProviderName } from './providers.ts'
import { defaultOptions, type SiteverifyOptions } from './siteverify.ts'
import { type Site, type TokenContent, TokenOffice } from './tokens.ts'
import { defaultSwitches, type WidgetSwitches } from './widget-switches.ts'

export interface EmulatorOptions {
  /** Port on 127.0.0.1; 0, the default, picks a free one. */
  readonly port?: number
  readonly clock?: EmulatorClock
  /** How open questions are answered. */
  readonly siteverify?: Partial<SiteverifyOptions>
}

/** One siteverify call that came in. */
export interface LoggedCall {
  readonly provider: ProviderName
  readonly method: string
  readonly fields: Readonly<Record<string, string>>
  /** What the provider made of it; undefined when a fault kept it from being carried out. */
  readonly verdict: Readonly<Record<string, unknown>> | undefined
  /** The fault that met it: what the client saw instead. */
  readonly answer: string
}

export interface Counters {
  /** Calls of siteverify, those that faults met too. */
  readonly calls: number
  readonly passed: number
  readonly refused: number
  /** Calls that faults kept from being carried out. */
  readonly lost: number
  /** Scripts and tokens that went to pages. */
  readonly scripts: number
  readonly solved: number
}

/** What a widget's frame tells of its page. */
export interface SolveRequest extends Partial<TokenContent> {
  readonly provider: ProviderName
  readonly siteKey: string
  /** Whether the box was ticked. */
  readonly ticked: boolean
}

export type Solution =
  | { readonly kind: 'token'; readonly token: string; readonly lifeMs: number }
  | { readonly kind: 'interactive'; readonly waitMs: number }
  | { readonly kind: 'error'; readonly code: string }
  | { readonly kind: 'silent' }

/** The emulated providers without their HTTP server: sites, tokens, faults, switches and the log. */
export class EmulatedChallenge {
  readonly clock: EmulatorClock
  readonly office = new TokenOffice()
  readonly faults = planFaults()
  readonly siteverify: SiteverifyOptions
  readonly calls: LoggedCall[] = []
  scripts = 0
  solved = 0
  #switches = defaultSwitches
  #outcomesLeft = Infinity

  constructor({ clock = realClock, siteverify }: EmulatorOptions = {}) {
    this.clock = clock
    this.siteverify = { ...defaultOptions, ...siteverify }
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

  get widget(): WidgetSwitches {
    return this.#switches
  }

  /** Changes these switches; `reset` brings the defaults back first. */
  setWidget(switches: Partial<WidgetSwitches>, { reset = false } = {}): void {
    this.#switches = { ...(reset ? defaultSwitches : this.#switches), ...switches }
    this.#outcomesLeft = this.#switches.outcomeTimes || Infinity
  }

  /** A token as the site's widget would give it, without a page. */
  issueToken(
    site: Site,
    content: Partial<TokenContent> & { readonly lifeMs?: number } = {},
  ): string {
    const { lifeMs, ...bound } = content
    return this.office.issue(site, bound, this.clock.now(), lifeMs).token
  }

  /** What a widget's frame gets. */
  solve({ provider, siteKey, ticked, ...content }: SolveRequest): Solution {
    const rules = providerRules[provider]
    const { expireAfterMs, errorCode, interactionMs } = this.#switches
    const lifeMs = expireAfterMs || rules.tokenLifeMs
    const test = rules.testSites.find((site) => site.siteKey === siteKey)
    const site = this.office.siteOf(provider, { siteKey })
    if (!test && !site) return { kind: 'error', code: '110100' }
    const outcome = ticked ? 'pass' : this.#outcome(test?.outcome)
    switch (outcome) {
      case 'interactive':
        return { kind: 'interactive', waitMs: interactionMs }
      case 'error':
        return { kind: 'error', code: errorCode }
      case 'silent':
        return { kind: 'silent' }
      case 'pass':
        this.solved += 1
        if (!site) return { kind: 'token', token: rules.dummyToken, lifeMs }
        return {
          kind: 'token',
          token: this.issueToken(site, { ...content, interactive: ticked, lifeMs }),
          lifeMs,
        }
    }
  }

  /** A site key for tests that blocks or asks always does so. */
  #outcome(ofTestSite: WidgetSwitches['outcome'] = 'pass'): WidgetSwitches['outcome'] {
    const { outcome } = this.#switches
    if (ofTestSite !== 'pass') return ofTestSite
    if (outcome === 'pass' || this.#outcomesLeft === 0) return 'pass'
    this.#outcomesLeft -= 1
    return outcome
  }
}
