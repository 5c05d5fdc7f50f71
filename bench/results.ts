/** One run of the bench, for RESULTS.md. */
export interface Run {
  /** Its time and its commit. */
  readonly name: string
  /** What else the figures depend on, such as the machine. */
  readonly about: readonly string[]
  /** The lines of the table, one for each scenario. */
  readonly rows: readonly string[]
}

const latestTitle = '## The latest of each scenario'
const runsTitle = '## Runs'

/**
 * RESULTS.md with a run: its rows, with its name, take the place of those of the same scenarios, and one line
 * at the end of the page keeps its medians.
 *
 * @throws Error when the page has not both of its headings
 */
export function withRun(page: string, { name, about, rows }: Run): string {
  const [intro, latest, runs] = page.split(new RegExp(`^(?:${latestTitle}|${runsTitle})\n`, 'm'))
  if (latest === undefined || runs === undefined) {
    throw new Error(`RESULTS.md needs the headings "${latestTitle}" and "${runsTitle}".`)
  }
  const [head = '', rule = '', ...before] = latest.trim().split('\n')
  const named = rows.map((row) => `${row} ${name} |`)
  const byName = new Map([...before, ...named].map((row) => [cellOf(row, 1), row]))
  const medians = rows.map((row) => `${cellOf(row, 1)} ${medianIn(row)}`)
  return [
    `${intro}${latestTitle}`,
    [head, rule, ...byName.values()].join('\n'),
    runsTitle,
    `${runs.trim()}\n- ${[name, ...about].join(', ')}: ${medians.join(', ')}\n`.trimStart(),
  ].join('\n\n')
}

function cellOf(row: string, index: number): string {
  return row.split('|')[index]?.trim() ?? ''
}

function medianIn(row: string): string {
  return /\*\*(.+?)\*\*/.exec(row)?.[1] ?? 'not measured'
}
