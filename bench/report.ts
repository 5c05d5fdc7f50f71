import { type Bound, type Measured, median, meets, type Scenario } from './scenario.ts'

/** The line of a scenario in the table, as Markdown. */
export function tableRow(scenario: Scenario, { values, note }: Measured): string {
  const { name, what, unit, reach, aim } = scenario
  const value = median(values)
  const spread =
    values.length > 1 ? ` (${shown(Math.min(...values))} to ${shown(Math.max(...values))})` : ''
  const verdict = meets(value, aim) ? 'aim' : meets(value, reach) ? 'reached' : 'MISSED'
  const measured = `**${shown(value)} ${unit}**${spread}`
  return `| ${name} | ${what} | ${bound(reach)} | ${bound(aim)} | ${measured} | ${verdict} | ${note} |`
}

/** The line of a scenario that failed. */
export function failedRow({ name, what, reach, aim }: Scenario): string {
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
