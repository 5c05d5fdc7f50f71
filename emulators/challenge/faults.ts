import { FaultPlan, type PlannedFault } from '../fault-plan.ts'
import type { ProviderName } from './providers.ts'

/** Says whether a siteverify call redeems its token, and what the client sees. */
export interface Fault extends PlannedFault {
  /** The provider whose calls it meets. By default it meets all. */
  readonly provider?: ProviderName
  /** Whether the call is carried out, which redeems its token. Default `never`. */
  readonly redeem?: 'now' | 'never'
  /**
   * `real`: the true answer (of a call that is carried out). `drop`: the connection is closed
   * without one. Default `real` when redeemed, else `drop`.
   */
  readonly answer?: 'real' | 'drop' | FaultAnswer | Partial<CannedAnswer>
  /** The delay of the answer in milliseconds. */
  readonly delayMs?: number
}

export interface CannedAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

const html = { 'Content-Type': 'text/html; charset=UTF-8' }
const json = { 'Content-Type': 'application/json' }

function page(title: string): string {
  return `<!DOCTYPE html>\n<html><head><title>${title}</title></head><body><h1>${title}</h1></body></html>\n`
}

/** Answers that providers, or proxies before them, have given. */
export const cannedAnswers = {
  internalError: {
    status: 200,
    headers: json,
    body: '{"success":false,"error-codes":["internal-error"],"messages":[]}',
  },
  serverError: { status: 500, headers: html, body: page('Internal server error | 500') },
  html200: { status: 200, headers: html, body: page('Sign in to the network') },
  tooMany: {
    status: 429,
    headers: { ...html, 'Retry-After': '17' },
    body: page('Too Many Requests'),
  },
} as const satisfies Record<string, CannedAnswer>

export type FaultAnswer = keyof typeof cannedAnswers

/** An empty plan of faults. */
export function planFaults(): FaultPlan<Fault, ProviderName> {
  return new FaultPlan(({ provider }, called) => provider === undefined || provider === called)
}

/** Both decisions of a fault, with their defaults. */
export function settled({ redeem, answer, delayMs }: Fault) {
  const isOnlyDelayed = delayMs !== undefined && answer === undefined && redeem === undefined
  const isRedeemed = isOnlyDelayed || redeem === 'now' || answer === 'real'
  return { isRedeemed, answer: answer ?? (isRedeemed ? 'real' : 'drop') } as const
}
