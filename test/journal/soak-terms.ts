import type { Random } from '../../src/platform/clock.ts'
import type { Millis } from '../../src/signup/signup.ts'

/** How many new tabs both processes may make together. */
export const soakTabsMax = 6

export const soakPolicy = {
  newTabsMax: soakTabsMax,
  namedTabs: ['Sheet1'],
} as const

/** An append that was answered. */
export interface SoakAppend {
  readonly email: string
  /** False when its tab would have been one too many. */
  readonly isTaken: boolean
  readonly key: string | undefined
  readonly token: string | undefined
}

/** A call that the second process has reserved. */
export interface SoakCall {
  readonly calledAt: Millis
}

/** Draws from few tabs, keys and tokens, so that both processes use the same ones. */
export function drawTerms(random: Random) {
  const number = (max: number) => Math.floor(random() * max)
  return {
    tab: random() < 0.5 ? 'Sheet1' : `Tab ${number(20)}`,
    key: random() < 0.3 ? `key ${number(400)}` : undefined,
    token: random() < 0.3 ? `token ${number(400)}` : undefined,
  }
}
