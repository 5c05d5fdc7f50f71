import type { Millis } from '../../signup/signup.ts'
import { isRecord, parseJson } from '../../signup/json.ts'
import { type ParseContext, parseSignup } from '../../signup/parse.ts'
import type { Columns } from './columns.ts'
import { type DateOrder, readMoment } from '../moment.ts'

export interface RowOptions {
  readonly columns: Columns
  readonly context: ParseContext
  /** The tab of all signups, whatever the file says. */
  readonly tab: string | undefined
  readonly dates: DateOrder | undefined
}

/**
 * Checks one record like a signup request. Returns a reason when something is wrong. Without a timestamp,
 * `hasDate` is false, and `at` is now.
 */
export function parseRow(
  values: readonly (readonly [column: string, value: unknown])[],
  { columns, context, tab, dates }: RowOptions,
  now: Millis,
) {
  const fields: Record<string, unknown> = {}
  const extra: [string, unknown][] = []
  for (const [column, value] of values) {
    if ((value ?? '') === '') continue
    const field = columns.fieldOf(column)
    if (field === undefined) extra.push([column, value])
    else fields[field] = value
  }
  const { timestamp, metadata, ...rest } = fields
  const problems: string[] = []
  const hasDate = timestamp !== undefined
  const text = typeof timestamp === 'string' ? timestamp : ''
  const at = hasDate ? readMoment(text, now, dates) : now
  if (typeof at !== 'number') problems.push(at.problem)
  const whole = metadataOf(metadata, extra)
  if ('problem' in whole) problems.push(whole.problem)
  const input = {
    ...rest,
    ...('metadata' in whole && { metadata: whole.metadata }),
    ...(tab !== undefined && { sheetTab: tab }),
  }
  const parsed = parseSignup(input, context)
  if (!parsed.ok) problems.push(...parsed.problems.map(({ message }) => message))
  if (parsed.ok && typeof at === 'number' && problems.length === 0)
    return { ...parsed, at, hasDate }
  return { ok: false as const, reason: problems.join(' ') }
}

/** The metadata of a record with the columns that are no fields. */
function metadataOf(
  given: unknown,
  extra: readonly (readonly [string, unknown])[],
): { readonly metadata: unknown } | { readonly problem: string } {
  const own = typeof given === 'string' ? parseJson(given) : { value: given }
  if ('problem' in own) return { problem: `The metadata ${own.problem}.` }
  if (extra.length === 0) return { metadata: own.value }
  if (own.value !== undefined && !isRecord(own.value)) return { metadata: own.value }
  const names = new Set(Object.keys(own.value ?? {}))
  if (extra.some(([name]) => names.size === names.add(name).size))
    return { problem: 'A column and a key of the metadata have one name: rename that column.' }
  return { metadata: { ...own.value, ...Object.fromEntries(extra) } }
}
