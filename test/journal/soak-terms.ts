import type { Random } from '../../src/platform/clock.ts'
import type { Millis } from '../../src/signup/signup.ts'

/** Both processes make tabs; so many new ones there may be. */
export const soakTabsMax = 6

export const soakPolicy = {
  newTabsMax: soakTabsMax,
  namedTabs: ['Sheet1'],
} as const

/** An append that was answered. */
export interface SoakAppend {
  readonly email: string
  /** Not when its tab would have been one too many. */
  readonly isTaken: boolean
  readonly key: string | undefined
  readonly token: string | undefined
}

/** A call that the second process has reserved, and would have made. */
export interface SoakCall {
  readonly calledAt: Millis
}

/** Few tabs, keys and tokens, so that both processes come upon the same ones. */
export function drawTerms(random: Random) {
  const number = (max: number) => Math.floor(random() * max)
  return {
    tab: random() < 0.5 ? 'Sheet1' : `Tab ${number(20)}`,
    key: random() < 0.3 ? `key ${number(400)}` : undefined,
    token: random() < 0.3 ? `token ${number(400)}` : undefined,
  }
}
