import { createHash } from 'node:crypto'

import type { TabSignups } from '../signup/batch.ts'
import type { Signup } from '../signup/signup.ts'
import type { TabShare, WaitingSignup } from './contracts/delivery-log.ts'

/** Signups of the tab with this name. */
export type Part = readonly [tab: string, signups: readonly Signup[]]

/** What a batch holds. In each tab, signups that are delivered once more come first: they are older. */
export function contents(fresh: readonly Part[], again: readonly Part[]): readonly TabSignups[] {
  const tabs = new Map<string, Signup[]>([...fresh, ...again].map(([tab]) => [tab, []]))
  for (const [tab, signups] of [...again, ...fresh]) tabs.get(tab)?.push(...signups)
  return Array.from(tabs, ([tab, signups]) => ({ tab, signups }))
}

/** The signups that get a row. */
export function written(waiting: readonly WaitingSignup[]): readonly Signup[] {
  return waiting.flatMap(({ signup, isIgnored }) => (isIgnored ? [] : [signup]))
}

/** Differs for batches with different signups, also after a backup of the journal was restored. */
export function digestOf(shares: readonly TabShare[]): string {
  const hash = createHash('sha256')
  for (const { tab, signups } of shares) {
    const ends = [signups[0]?.signup.id, signups.at(-1)?.signup.id]
    hash.update(JSON.stringify([tab.name, signups.length, ...ends]))
  }
  return hash.digest('hex').slice(0, 12)
}
