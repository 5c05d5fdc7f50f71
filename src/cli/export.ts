import { extname, resolve } from 'node:path'
import { type Command, Option } from '@commander-js/extra-typings'
import type { Reader } from '../journal/contracts/reader.ts'
import { makePrivateFile } from '../platform/node/private-file.ts'
import { partOf } from '../operations/journal-home.ts'
import { pagesOf } from '../operations/pages-of.ts'
import { ownColumns } from '../signup/row.ts'
import { type Millis, tabKey } from '../signup/signup.ts'
import { parseMoment } from './moment.ts'
import { csvFormat, type ExportFormat, ndjsonFormat } from './export/formats.ts'
import { xlsxFormat } from './export/xlsx.ts'
import { exit, type Run, type Session, UsageError } from './session.ts'
import { counted } from '../operations/words.ts'
import { tabHint } from './terminal/words.ts'
import { chosenName, readSettings, tellExpired } from './settings.ts'

/** Which signups are wanted, and the tabs that the settings name. */
interface Chosen {
  readonly tab?: string
  readonly since?: Millis
  readonly until?: Millis
  readonly known: readonly string[]
}

const formats = { csv: csvFormat, ndjson: ndjsonFormat, xlsx: xlsxFormat }
const names = ['csv', 'ndjson', 'xlsx'] as const
type Format = keyof typeof formats

const pageRows = 1_000

export function addExport(program: Command, run: Run): void {
  program
    .command('export')
    .description('write all signups of the journal as CSV, NDJSON or XLSX')
    .addOption(new Option('--format <format>', 'by default as the ending of FILE').choices(names))
    .option('--out <file>', 'a new file, with mode 0600; otherwise standard output')
    .option('--site <name>', 'the site, when there are several')
    .option('--tab <name>', 'only the signups of this tab')
    .option('--since <date>', 'only signups from this date (UTC) or time on', parseMoment)
    .option('--until <date>', 'only signups before this date (UTC) or time', parseMoment)
    .action((options) =>
      run(async (session) => {
        const { since = -Infinity, until = Infinity, out } = options
        const kind = formatOf(options.format, out)
        if (since >= until) throw new UsageError('--since must be earlier than --until.')
        if (kind === 'xlsx' && out === undefined && session.out.isTerminal) {
          throw new UsageError('A terminal cannot show XLSX: give --out FILE.')
        }
        const { config, home } = await readSettings()
        await using journal = await home.openReader()
        const name = chosenName(config, journal.sites.keys(), options.site)
        const reader = partOf(journal.sites, { name })
        // What only a site that is not configured any more had columns for is in Metadata.
        const site = config.sites.find((it) => it.name === name)
        const own = ownColumns(site?.fields ?? [], site?.confirmation)
        await tellExpired(reader, session.notes)
        const known = site ? [site.defaultTab, ...(site.tabs ?? [])] : []
        const chosen = { ...options, known }
        await using file = out === undefined ? undefined : await makePrivateFile(resolve(out))
        const format = formats[kind](file ?? session.out.data, own)
        const count = await copy(reader, format, chosen, session)
        await file?.finish()
        if (out !== undefined) {
          session.notes.tell(`Exported ${counted(count, 'signup')} to ${resolve(out)}`)
        }
        return exit.done
      }),
    )
}

/** @throws UsageError when the file's ending says another format, or one that there is not */
function formatOf(format: Format | undefined, out = ''): Format {
  const ending = extname(out).slice(1).toLowerCase()
  const named = names.find((name) => name === ending)
  if (format ? named && named !== format : !named && ending !== '') {
    throw new UsageError(
      `Formats are ${names.join(', ')}: give one as the ending of the file or by --format, not two.`,
    )
  }
  return format ?? named ?? 'csv'
}

/**
 * Copies the chosen signups page by page, so that no transaction stays open. Returns how many.
 *
 * @throws UsageError when neither the journal nor the settings have the tab
 */
async function copy(
  reader: Reader,
  format: ExportFormat,
  { tab, since = -Infinity, until = Infinity, known }: Chosen,
  { notes, stop }: Pick<Session, 'notes' | 'stop'>,
): Promise<number> {
  const { all } = await reader.figures(0, 0)
  using progress = notes.progress('signups read', all.accepted)
  const tabs = new Map(known.map((it) => [tabKey(it), it]))
  const wantedKey = tab === undefined ? undefined : tabKey(tab)
  let read = 0
  let count = 0
  let held = 0
  for await (const page of pagesOf(pageRows, (after) => reader.page(after, pageRows))) {
    stop.throwIfAborted()
    const rows = page.filter(({ signup: { sheetTab, receivedAt, suspect } }) => {
      if (suspect) {
        held += 1
        return false
      }
      const key = tabKey(sheetTab)
      if (!tabs.has(key)) tabs.set(key, sheetTab)
      return receivedAt >= since && receivedAt < until && (wantedKey ?? key) === key
    })
    if (rows.length > 0) await format.write(rows)
    read += page.length
    count += rows.length
    progress.at(read)
  }
  if (tab !== undefined && read > 0 && !tabs.has(tabKey(tab))) {
    const hint = tabHint(tab, tabs.values())
    throw new UsageError(`The journal has no tab of the name that --tab says. ${hint}`)
  }
  await format.finish()
  if (held > 0) {
    const left = `Left out, as they are in quarantine: ${counted(held, 'signup')}.`
    notes.tell(`${left} rollcall quarantine --json has them.`)
  }
  return count
}
