import { resolve } from 'node:path'
import { chosenSite, readSettings } from './settings.ts'
import { type Command, Option } from '@commander-js/extra-typings'
import type { SiteConfig } from '../config/sites/site.ts'
import type { Journal } from '../journal/contracts/journal.ts'
import { letHeapGrow } from '../platform/node/heap.ts'
import { parseContext } from '../service/parse-context.ts'
import { partOf } from '../operations/journal-home.ts'
import { ownColumns } from '../signup/row.ts'
import { Columns } from './import/columns.ts'
import { Importer } from './import/importer.ts'
import { openImportFile } from './import/records.ts'
import { RejectedFile } from './import/rejected-file.ts'
import { tabKey } from '../signup/signup.ts'
import { tabsByKey } from '../signup/tab.ts'
import { exit, type Run, UsageError } from './session.ts'
import { counted, digits } from '../operations/words.ts'
import { tabHint } from './terminal/words.ts'
import { type ImportFile, lettersOf, quotedName, rejectedColumns } from './import/file-record.ts'

const dateOrders = ['day-first', 'month-first'] as const

const details = `
A column is a field by its name: Email, Timestamp, Source, Name, Tags, Metadata,
Sheet Tab; letter case, spaces and hyphens do not count. --map names the column
of a field: --map email="Contact" --map timestamp=Date. The fields of a site are
columns by their names or labels. Also by number or letter: --map email=3 or
email=C; a column that is called so comes first. All other columns go into
Metadata under their own names.

An address that its tab has already is skipped and counted. So you can run an
import again, or complete one that was stopped: nobody is added twice.

Rejected rows go with their reasons to FILE.rejected.csv, or to
FILE.rejected-2.csv and so on when that exists. Correct them there and import
that file. A dry run writes no file, and shows what each column becomes, the
earliest and latest date, and the first 20 rejected rows.

Exit code 1: some rows were rejected, or the import was stopped.`

export function addImport(program: Command, run: Run): void {
  program
    .command('import')
    .description('bring signups along from a CSV or NDJSON file, beside the service')
    .argument('<file>', 'CSV with a header row, or one JSON object a line; in UTF-8')
    .option('--site <name>', 'the site, when there are several')
    .option('--map <field=column>', 'a column that is a field, any number of times', addMapped)
    .option('--tab <name>', 'put all signups into this tab, whatever the file says')
    .addOption(new Option('--dates <order>', 'how to read 03/04/2026').choices(dateOrders))
    .option('--duplicates', 'also add addresses that the tab has already')
    .option('--webhooks', 'tell webhooks of the signups, as if they had just come')
    .option('--dry-run', 'only say what would be done')
    .option('--json', 'print JSON, for programs')
    .addHelpText('after', details)
    .action((given, options) =>
      run(async (session) => {
        const path = resolve(given)
        const { config, home } = await readSettings()
        const site = chosenSite(config, options.site)
        if (options.duplicates && site.duplicates === 'ignore')
          throw new UsageError(
            '--duplicates contradicts the setting DUPLICATES=ignore: leave one of them out.',
          )
        const columns = new Columns(options.map ?? [], ownColumns(site.fields))
        await using opened = await openImportFile(path)
        const { file } = opened
        if (file.columns) columns.take(file.columns)
        await using open = await (options.dryRun ? home.openForTrial() : home.openBeside())
        const journal = partOf(open.sites, site)
        const rejectedFile = options.dryRun ? undefined : new RejectedFile(path, file.cellNames)
        const { imports } = journal
        const importer = new Importer({
          columns,
          context: contextOf(site, journal, options.tab),
          tab: options.tab,
          dates: options.dates,
          add: (...signups) => imports[options.dryRun ? 'preview' : 'add'](...signups),
          terms: { keepsDuplicates: options.duplicates, webhooks: options.webhooks },
          clock: session.clock,
          rejectedFile,
        })
        letHeapGrow()
        let complete = false
        try {
          using progress = session.notes.progress('bytes read', opened.bytes)
          await importer.run(file, (done) => {
            progress.at(done)
            session.stop.throwIfAborted()
          })
          complete = true
        } finally {
          await rejectedFile?.finish()
          await imports.flush()
          const report: Report = {
            file: path,
            dryRun: options.dryRun ?? false,
            complete,
            columns: usesOf(file, columns, options.tab),
            ...importer.results,
            rejectedFile: rejectedFile?.path ?? null,
          }
          if (options.json) await session.out.json(report)
          else await session.out.lines(...describeReport(report))
        }
        return importer.results.rejected === 0 ? exit.done : exit.notAll
      }),
    )
}

/** @throws UsageError when every row would be rejected, as the tab takes no signups */
function contextOf(site: SiteConfig, journal: Journal, tab: string | undefined) {
  const context = parseContext('import', site, journal)
  const { defaultTab, knownTabs, onlyKnownTabs, closedTab = '' } = context
  if (tab === undefined) return context
  const tabs = tabsByKey([defaultTab, ...knownTabs.values()])
  const key = tabKey(tab.trim())
  if (key !== tabKey(closedTab) && (tabs.has(key) || !onlyKnownTabs)) return context
  throw new UsageError(`The tab that --tab names takes no signups. ${tabHint(tab, tabs.values())}`)
}

function addMapped(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, text]
}

/** The JSON of `rollcall import`. */
type Report = Importer['results'] & {
  readonly file: string
  readonly dryRun: boolean
  /** False when it was stopped or failed before the end of the file. */
  readonly complete: boolean
  /** What each column becomes; in NDJSON the names that the first rows have. At most a thousand. */
  readonly columns: readonly ColumnUse[]
  readonly rejectedFile: string | null
}

/** What a column becomes: a field, a member of the metadata, or nothing. */
interface ColumnUse {
  /** The letters above it; null in NDJSON. */
  readonly column: string | null
  readonly name: string
  readonly field: string | null
  readonly metadataKey: string | null
}

const columnsMax = 1_000

/** @param tab the tab of all signups, whatever the file says */
function usesOf(
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

function describeReport(report: Report): string[] {
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
