import type { Count } from '../journal/contracts/reader.ts'
import { day, hour } from '../platform/clock.ts'
import type { Millis } from '../signup/signup.ts'

/** What the overview covers: by hours or days in UTC, of which the last one is not over yet. */
export const periods = [
  { name: '24h', words: '24 hours', stepMs: hour, count: 24 },
  { name: '7d', words: '7 days', stepMs: day, count: 7 },
  { name: '30d', words: '30 days', stepMs: day, count: 30 },
  { name: '90d', words: '90 days', stepMs: day, count: 90 },
] as const

/** The period of this name; else 7 days. */
export function periodNamed(name: string | null): (typeof periods)[number] {
  return periods.find((period) => period.name === name) ?? periods[1]
}

/** An hour or a day, what was counted in it, and what as long before as the period is. */
export interface Step {
  readonly begin: Millis
  readonly now: number
  readonly before: number
}

/** When each step begins, with those of the time before: twice as many as the period has. */
export function beginsOf({ stepMs, count }: (typeof periods)[number], now: Millis): Millis[] {
  const last = now - (now % stepMs)
  return Array.from({ length: 2 * count }, (_, at) => last - (2 * count - 1 - at) * stepMs)
}

/** @param counts those outside of the steps are left out */
export function stepsOf(begins: readonly Millis[], counts: readonly Count[]): readonly Step[] {
  const [first = 0, second = 0] = begins
  const sums = begins.map(() => 0)
  for (const { at, count } of counts) {
    const index = Math.floor((at - first) / (second - first))
    if (index in sums) sums[index] = (sums[index] ?? 0) + count
  }
  const half = begins.length / 2
  return begins.slice(half).map((begin, at) => {
    return { begin, now: sums[half + at] ?? 0, before: sums[at] ?? 0 }
  })
}

export function sumOf<It>(all: readonly It[], of: (it: It) => number): number {
  return all.reduce((sum, it) => sum + of(it), 0)
}

/** When a step begins, in UTC: "26 Nov", or of an hour "26 Nov, 14:00". */
export function stepWords(begin: Millis, isHour: boolean): string {
  // Such as "Thu, 26 Nov 2026 14:00:00 GMT". Intl takes ten times as long.
  const text = new Date(begin).toUTCString()
  const date = text.slice(5, 11).replace(/^0/, '')
  return isHour ? `${date}, ${text.slice(17, 22)}` : date
}
