import { counted, digits } from '../terminal/words.ts'
import type { Columns } from './columns.ts'
import { type ImportFile, lettersOf, quotedName, rejectedColumns } from './file-record.ts'
import type { Importer } from './importer.ts'

/** The JSON of `rollcall import`. */
export type Report = Importer['results'] & {
  readonly file: string
  readonly dryRun: boolean
  /** False when it was stopped or failed before the end of the file. */
  readonly complete: boolean
  /** What each column becomes; in NDJSON the names that the first rows have. At most a thousand. */
  readonly columns: readonly ColumnUse[]
  /** The path of the file that has the rejected rows. */
  readonly rejectedFile: string | null
}

/** What a column becomes: a field, a member of the metadata, or nothing. */
export interface ColumnUse {
  /** The letters above it; null in NDJSON. */
  readonly column: string | null
  readonly name: string
  readonly field: string | null
  readonly metadataKey: string | null
}

const columnsMax = 1_000

/** @param tab the tab of all signups, whatever the file says */
export function usesOf(
  { columns }: Pick<ImportFile, 'columns'>,
  { known }: Columns,
  tab: string | undefined,
): readonly ColumnUse[] {
  const named = columns?.map((column, at) => ({ ...column, letters: lettersOf(at) }))
  const all = named ?? Array.from(known.keys(), (key) => ({ name: key, key, letters: null }))
  return all.slice(0, columnsMax).map(({ name, key, letters }) => {
    const field = known.get(key) ?? null
    const isUsed = !rejectedColumns.includes(key) && (field !== 'sheetTab' || tab === undefined)
    return {
      column: letters,
      name,
      field: isUsed ? field : null,
      metadataKey: isUsed && field === null ? key : null,
    }
  })
}

/** Tells people what an import has done, or would do. */
export function describeReport(report: Report): string[] {
  const { read, added, skipped, rejected, dryRun, rejectedFile, problems } = report
  const { earliest, latest, without } = report.dates
  const results = [
    `${digits(added)} ${dryRun ? 'would be added' : 'added'}`,
    `${digits(skipped)} skipped, as their tab has the address`,
    `${digits(rejected)} rejected`,
  ]
  return [
    ...report.columns.map(columnLine),
    ...(earliest === null ? [] : [`Dates from ${earliest} to ${latest}.`]),
    ...(without === 0
      ? []
      : [`Rows without a date get the time of the import: ${digits(without)}.`]),
    `${counted(read, 'row')} read: ${results.join('; ')}.`,
    ...(rejectedFile === null ? [] : [`The rejected rows are in ${rejectedFile}`]),
    ...(dryRun ? problems.map(({ row, reason }) => `Row ${row}: ${reason}`) : []),
  ]
}

function columnLine({ column, name, field, metadataKey }: ColumnUse): string {
  const becomes = field ?? (metadataKey === null ? 'left out' : 'into Metadata')
  const key = metadataKey === null || metadataKey === name ? '' : ` as ${quotedName(metadataKey)}`
  return `${column === null ? 'Name' : `Column ${column}`} ${quotedName(name)}: ${becomes}${key}`
}
