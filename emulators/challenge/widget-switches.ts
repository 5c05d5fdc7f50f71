/** What the widgets in the page do, instead of handing out a token at once. */
export interface WidgetSwitches {
  /**
   * `pass`: a token. `error`: the error callback, with `errorCode`. `interactive`: a box to tick
   * first. `silent`: nothing, for ever. The site keys for tests have their own.
   */
  readonly outcome: 'pass' | 'error' | 'interactive' | 'silent'
  /** How many times `outcome` holds; then they pass. 0: always. */
  readonly outcomeTimes: number
  readonly errorCode: string
  /** How long they work before the outcome. */
  readonly solveMs: number
  /** Life of the tokens, also on the server; 0: the provider's own. */
  readonly expireAfterMs: number
  /** How long the box waits to be ticked. */
  readonly interactionMs: number
  /** `missing`: 404. `drop`: no answer. `hang`: never an answer. */
  readonly script: 'ok' | 'missing' | 'drop' | 'hang'
  readonly scriptDelayMs: number
}

export const defaultSwitches: WidgetSwitches = {
  outcome: 'pass',
  outcomeTimes: 0,
  errorCode: '600010',
  solveMs: 0,
  expireAfterMs: 0,
  interactionMs: 60_000,
  script: 'ok',
  scriptDelayMs: 0,
}
