import { extname, resolve } from 'node:path'
import { type Command, Option } from '@commander-js/extra-typings'
import type { Reader } from '../journal/contracts/reader.ts'
import { makePrivateFile } from '../platform/node/private-file.ts'
import { partOf } from '../journal/contracts/journal.ts'
import { ownColumns } from '../signup/row.ts'
import { type Millis, type Signup, tabKey } from '../signup/signup.ts'
import { suggest } from '../signup/suggest.ts'
import { parseMoment } from './arguments.ts'
import { csvFormat, type ExportFormat, ndjsonFormat } from './export/formats.ts'
import { xlsxFormat } from './export/xlsx.ts'
import { exit, type ExitCode, type Run, type Session, UsageError } from './session.ts'
import { counted } from './terminal/words.ts'
import { chosenName, readSettings, tellExpired } from './settings.ts'

interface Options extends Chosen {
  readonly site?: string
  readonly format?: Format
  readonly out?: string
}

/** Which signups are wanted. */
interface Chosen {
  readonly tab?: string
  readonly since?: Millis
  readonly until?: Millis
}

const formats = { csv: csvFormat, ndjson: ndjsonFormat, xlsx: xlsxFormat }
const names = ['csv', 'ndjson', 'xlsx'] as const
type Format = (typeof names)[number]

const pageRows = 1_000

export function addExport(program: Command, run: Run): void {
  program
    .command('export')
    .description(
      'write the signups of the journal as CSV, NDJSON or XLSX, written to the spreadsheet or not',
    )
    .addOption(
      new Option('--format <format>', 'by default that of the ending of FILE, or csv').choices(
        names,
      ),
    )
    .option('--out <file>', 'a new file, with mode 0600; otherwise standard output')
    .option('--site <name>', 'the site, when there are several')
    .option('--tab <name>', 'only the signups of this tab')
    .option('--since <date>', 'only signups from this date (UTC) or time on', parseMoment)
    .option('--until <date>', 'only signups before this date (UTC) or time', parseMoment)
    .action((options) => run((session) => exportSignups(session, options)))
}

async function exportSignups(session: Session, options: Options): Promise<ExitCode> {
  const { since = -Infinity, until = Infinity, out } = options
  const format = formatOf(options)
  if (since >= until) throw new UsageError('--since must be earlier than --until.')
  if (format === 'xlsx' && out === undefined && session.out.isTerminal) {
    throw new UsageError('A terminal cannot show XLSX: give --out FILE.')
  }
  const { config, home } = readSettings()
  await using journal = await home.openReader()
  const name = chosenName(config, journal.sites.keys(), options.site)
  const reader = partOf(journal.sites, { name })
  // The values of a site that is not configured any more are in Metadata.
  const site = config.sites.find((it) => it.name === name)
  const own = ownColumns(site?.fields ?? [])
  await tellExpired(reader, session.notes)
  const known = site ? [site.defaultTab, ...(site.tabs ?? [])] : []
  const chosen = { ...options, known }
  if (out === undefined) {
    await copy(reader, formats[format](session.out.data, own), chosen, session)
    return exit.done
  }
  const path = resolve(out)
  await using file = await makePrivateFile(path)
  const count = await copy(reader, formats[format](file, own), chosen, session)
  await file.finish()
  session.notes.tell(`Exported ${counted(count, 'signup')} to ${path}`)
  return exit.done
}

/** @throws UsageError when the file's ending says another format, or one that there is not */
function formatOf({ format, out = '' }: Pick<Options, 'format' | 'out'>): Format {
  const ending = extname(out).slice(1).toLowerCase()
  const named = names.find((name) => name === ending)
  if (format !== undefined) {
    if (named === undefined || named === format) return format
    throw new UsageError(
      `--format ${format} contradicts the ending of the file, .${ending}: leave --format out, or give the file another ending.`,
    )
  }
  if (named !== undefined || ending === '') return named ?? 'csv'
  throw new UsageError(
    `No format has the ending of the file. Formats are ${names.join(', ')}: give one of them as the ending, or --format.`,
  )
}

/** Copies the chosen signups page by page, so that no transaction stays open. Returns how many. */
async function copy(
  reader: Reader,
  format: ExportFormat,
  chosen: Chosen & { readonly known: readonly string[] },
  { notes, stop }: Pick<Session, 'notes' | 'stop'>,
): Promise<number> {
  const { all } = await reader.figures(0, 0)
  using progress = notes.progress('signups read', all.accepted)
  const isWanted = wanting(chosen)
  let read = 0
  let count = 0
  const tabs = new Map(chosen.known.map((tab) => [tabKey(tab), tab]))
  for (let after = 0; ;) {
    const page = await reader.page(after, pageRows)
    const rows = page.filter(({ signup }) => isWanted(signup))
    if (rows.length > 0) await format.write(rows)
    // Once a wanted signup is found, the tab is there.
    if (count === 0)
      for (const { signup } of page) tabs.set(tabKey(signup.sheetTab), signup.sheetTab)
    read += page.length
    count += rows.length
    progress.at(read)
    if (page.length < pageRows) break
    after = page.at(-1)?.position ?? after
    // Let a signal be heard.
    await new Promise((done) => setImmediate(done))
    stop.throwIfAborted()
  }
  if (chosen.tab !== undefined && read > 0 && !tabs.has(tabKey(chosen.tab)))
    throw noSuchTab(chosen.tab, [...tabs.values()])
  await format.finish()
  return count
}

const tabsMax = 20

/** Does not repeat what was given, nor name a tab that somebody called by an address. */
function noSuchTab(given: string, tabs: readonly string[]): UsageError {
  const named = tabs.filter((tab) => !tab.includes('@')).map((tab) => JSON.stringify(tab))
  const near = named.filter((tab) => suggest(given, [tab]) !== undefined)
  const hint =
    near.length > 0
      ? `Did you mean ${near.slice(0, tabsMax).join(' or ')}?`
      : `Tabs are ${named.slice(0, tabsMax).join(', ')}${named.length > tabsMax ? ', …' : ''}.`
  return new UsageError(`The journal has no tab of the name that --tab says. ${hint}`)
}

function wanting({ tab, since = -Infinity, until = Infinity }: Chosen) {
  const key = tab === undefined ? undefined : tabKey(tab)
  return ({ sheetTab, receivedAt }: Signup) =>
    receivedAt >= since && receivedAt < until && (key === undefined || tabKey(sheetTab) === key)
}
