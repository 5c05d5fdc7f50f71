import { type Bound, type Figure, isReached, type Measured, median, meets } from './scenario.ts'

/** The line of a figure in the table, as Markdown. */
export function tableRow(figure: Figure, measured: Measured): string {
  const { name, what, unit, reach, aim } = figure
  const { values, note, interval } = measured
  const value = median(values)
  const { low, high } = interval ?? { low: Math.min(...values), high: Math.max(...values) }
  const spread = values.length > 1 ? ` (${shown(low)} to ${shown(high)})` : ''
  const verdict = meets(value, aim) ? 'aim' : isReached(figure, measured) ? 'reached' : 'MISSED'
  const told = `**${shown(value)} ${unit}**${spread}`
  return `| ${name} | ${what} | ${bound(reach)} | ${bound(aim)} | ${told} | ${verdict} | ${note} |`
}

/** The line of a figure that could not be measured. */
export function failedRow({ name, what, reach, aim }: Figure): string {
  return `| ${name} | ${what} | ${bound(reach)} | ${bound(aim)} | not measured | FAILED | |`
}

export const tableHead = [
  '| name | what | to reach | aim for | measured: median (spread) | | |',
  '|---|---|---|---|---|---|---|',
]

function bound({ isAtLeast, value }: Bound): string {
  return `${isAtLeast ? '≥' : '≤'} ${value}`
}

function shown(value: number): string {
  return value >= 1000 ? Math.round(value).toString() : value.toPrecision(3)
}
