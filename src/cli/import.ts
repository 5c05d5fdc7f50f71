import { resolve } from 'node:path'
import { Command, Option } from '@commander-js/extra-typings'
import type { SiteConfig } from '../config/sites/site.ts'
import { letHeapGrow } from '../platform/node/heap.ts'
import { iso, isoOrNull } from '../platform/clock.ts'
import { parseContext } from '../service/site.ts'
import { partOf } from '../operations/journal-home.ts'
import { ownColumns } from '../signup/row.ts'
import { command } from './command.ts'
import { Columns, quotedName } from './import/columns.ts'
import { Importer } from './import/importer.ts'
import { openImportFile } from './import/records.ts'
import { RejectedFile } from './import/rejected-file.ts'
import { tabKey } from '../signup/signup.ts'
import { tabsByKey } from '../signup/tab.ts'
import { UsageError } from './session.ts'
import { chosenSite } from './settings.ts'
import { counted } from '../operations/words.ts'
import { digits } from '../platform/digits.ts'
import { tabHint } from './terminal/words.ts'

const details = `
A column is a field by its name: Email, Timestamp, Source, Name, Tags, Metadata,
Sheet Tab; letter case, spaces and hyphens do not count. --map names the column
of a field: --map email="Contact" --map timestamp=Date. The fields of a site are
columns by their names or labels. All other columns go into Metadata under their
own names.

An address that its tab has already is skipped and counted. So you can run an
import again, or complete one that was stopped: nobody is added twice.

Rejected rows go with their reasons to FILE.rejected.csv, or to
FILE.rejected-2.csv and so on when that exists. Correct them there and import
that file. A dry run writes no file, and shows what each column becomes, the
earliest and latest date, and the first 20 rejected rows.

Exit code 1: some rows were rejected, or the import was stopped.`

export const addImport = command(
  new Command('import')
    .description('bring signups along from a CSV or NDJSON file, beside the service')
    .argument('<file>', 'CSV with a header row, or one JSON object a line; in UTF-8')
    .option('--site <name>', 'the site, when there are several')
    .option(
      '--map <field=column>',
      'a column that is a field, any number of times',
      (text, before?: readonly string[]) => [...(before ?? []), text],
    )
    .option('--tab <name>', 'put all signups into this tab, whatever the file says')
    .addOption(
      new Option('--dates <order>', 'how to read 03/04/2026').choices([
        'day-first',
        'month-first',
      ] as const),
    )
    .option('--duplicates', 'also add addresses that the tab has already')
    .option('--webhooks', 'tell webhooks of the signups, as if they had just come')
    .option('--dry-run', 'only say what would be done')
    .addHelpText('after', details),
  async ({ config, home, out, notes, stop, clock, json }, given, options) => {
    const { tab, dates, duplicates, webhooks, dryRun = false } = options
    const path = resolve(given)
    const site = chosenSite(config.sites, options.site)
    if (duplicates && site.duplicates === 'ignore')
      throw new UsageError(
        '--duplicates contradicts the setting DUPLICATES=ignore: leave one of them out.',
      )
    const columns = new Columns(options.map ?? [], ownColumns(site.fields))
    await using file = await openImportFile(path)
    if (file.hasHeader) columns.take(file.names)
    await using open = await (dryRun ? home.openForTrial() : home.openBeside())
    const { imports } = partOf(open.sites, site)
    const rejectedFile = dryRun ? undefined : new RejectedFile(path, file.names)
    const importer = new Importer({
      ...{ columns, context: contextOf(site, tab), tab, dates, clock, rejectedFile },
      add: (...signups) => imports[dryRun ? 'preview' : 'add'](...signups),
      terms: { keepsDuplicates: duplicates, webhooks },
    })
    letHeapGrow()
    let complete = false
    try {
      using progress = notes.progress('bytes read', file.bytes)
      await importer.run(file, (done) => {
        progress.at(done)
        stop.throwIfAborted()
      })
      complete = true
    } finally {
      await rejectedFile?.finish()
      await imports.flush()
      // Also of an import that was stopped.
      const { earliest, latest, without } = importer.dates
      const report = {
        ...{ file: path, dryRun, complete },
        // A column without a field goes into Metadata under its name.
        columns: Array.from(columns.known, ([name, field = null]) => ({ name, field })),
        dates: { earliest: isoOrNull(earliest), latest: isoOrNull(latest), without },
        ...{ ...importer.results, rejectedFile: rejectedFile?.path ?? null },
      }
      const lines = describe(importer, columns, rejectedFile, tab !== undefined)
      await (json ? out.json(report) : out.lines(...lines))
    }
    return { isWell: importer.results.rejected === 0 }
  },
)

/** @throws UsageError when every row would be rejected, as the tab takes no signups */
function contextOf(site: SiteConfig, tab: string | undefined) {
  const context = parseContext('import', site)
  const { defaultTab, knownTabs, onlyKnownTabs } = context
  if (tab === undefined) return context
  const tabs = tabsByKey([defaultTab, ...knownTabs.values()])
  if (tabs.has(tabKey(tab.trim())) || !onlyKnownTabs) return context
  throw new UsageError(`The tab that --tab names takes no signups. ${tabHint(tab, tabs.values())}`)
}

/** The report for people. A dry run has no `rejectedFile`. @param hasTab whether one tab is for all */
function describe(
  { dates: { earliest, latest, without }, results }: Importer,
  { known }: Columns,
  rejectedFile: RejectedFile | undefined,
  hasTab: boolean,
): string[] {
  const { read, added, skipped, rejected, problems } = results
  const becomes = (field = 'into Metadata') => (field === 'sheetTab' && hasTab ? 'left out' : field)
  return [
    ...Array.from(known, ([name, field]) => `Column ${quotedName(name)}: ${becomes(field)}`),
    earliest !== undefined && `Dates from ${iso(earliest)} to ${iso(latest ?? earliest)}.`,
    without > 0 && `Rows without a date get the time of the import: ${digits(without)}.`,
    `${counted(read, 'row')} read: ${digits(added)} ${rejectedFile ? 'added' : 'would be added'}; ` +
      `${digits(skipped)} skipped, as their tab has the address; ${digits(rejected)} rejected.`,
    rejectedFile?.path !== undefined && `The rejected rows are in ${rejectedFile.path}`,
    ...(rejectedFile ? [] : problems.map(({ row, reason }) => `Row ${row}: ${reason}`)),
  ].filter((line) => line !== false)
}
