import type { Interval } from '../scenario.ts'

/**
 * The interval that holds the median with a chance of 95 % or more, whatever the distribution is: it runs from
 * the k-th smallest value to the k-th largest, as the number of values below the median is binomial. Of fewer
 * than six values it is the whole range, which holds the median less often.
 */
export function medianInterval(values: readonly number[]): Interval {
  const sorted = values.toSorted((a, b) => a - b)
  const count = sorted.length
  let k = 0
  let chanceOfK = 0.5 ** count
  let chanceOutside = 2 * chanceOfK
  while (chanceOutside <= 0.05) {
    k += 1
    chanceOfK *= (count - k + 1) / k
    chanceOutside += 2 * chanceOfK
  }
  const index = Math.max(0, k - 1)
  return { low: sorted[index] ?? Number.NaN, high: sorted[count - 1 - index] ?? Number.NaN }
}
