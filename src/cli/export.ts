import { rollcall } from '../platform/command-words.ts'
import { extname, resolve } from 'node:path'
import { Command, Option } from '@commander-js/extra-typings'
import { makePrivateFile } from '../platform/node/private-file.ts'
import { partOf } from '../operations/journal-home.ts'
import { csvFormat, exportedPages, ndjsonFormat } from '../operations/export.ts'
import { ownColumns } from '../signup/row.ts'
import { type Signup, tabKey } from '../signup/signup.ts'
import { tabsByKey } from '../signup/tab.ts'
import { parseMoment } from './moment.ts'
import { plainCommand } from './command.ts'
import { UsageError } from './session.ts'
import { counted } from '../operations/words.ts'
import { tabHint } from './terminal/words.ts'
import { chosenSite, readSettings, tellExpired } from './settings.ts'

const names = ['csv', 'ndjson'] as const
type Format = (typeof names)[number]

const pageRows = 1_000

export const addExport = plainCommand(
  new Command('export')
    .description('write all signups of the journal as CSV or NDJSON')
    .addOption(new Option('--format <format>', 'by default as the ending of FILE').choices(names))
    .option('--out <file>', 'a new file, with mode 0600; otherwise standard output')
    .option('--site <name>', 'the site, when there are several')
    .option('--tab <name>', 'only the signups of this tab')
    .option('--since <date>', 'only signups from this date (UTC) or time on', parseMoment)
    .option('--until <date>', 'only signups before this date (UTC) or time', parseMoment),
  async ({ out: output, notes, stop, env }, options) => {
    const { config, home } = await readSettings({ env })
    const { tab, since = -Infinity, until = Infinity, out } = options
    const kind = formatOf(options.format, out)
    if (since >= until) throw new UsageError('--since must be earlier than --until.')
    await using journal = await home.openReader()
    // Also one that the settings do not have any more.
    const known = Array.from(journal.sites.keys(), (it) => ({ name: it }))
    const { name } = chosenSite(options.site === undefined ? config.sites : known, options.site)
    const reader = partOf(journal.sites, { name })
    // What only a site that is not configured any more had columns for is in Metadata.
    const site = config.sites.find((it) => it.name === name)
    const own = ownColumns(site?.fields ?? [], site?.confirmation)
    await tellExpired(reader, notes)
    await using file = out === undefined ? undefined : await makePrivateFile(resolve(out))
    const { head, lines } = kind === 'csv' ? csvFormat(own) : ndjsonFormat
    const sink = file ?? output.data
    const { all } = await reader.figures()
    using progress = notes.progress('signups read', all.accepted)
    const tabs = new Map(tabsByKey(site ? [site.defaultTab, ...(site.tabs ?? [])] : []))
    const wanted = tab === undefined ? undefined : tabKey(tab)
    const isChosen = ({ sheetTab, receivedAt }: Signup) => {
      const key = tabKey(sheetTab)
      if (!tabs.has(key)) tabs.set(key, sheetTab)
      return receivedAt >= since && receivedAt < until && (wanted ?? key) === key
    }
    const sum = { read: 0, rows: 0 }
    let lead = head
    for await (const { rows, read } of exportedPages(reader, pageRows, isChosen)) {
      stop.throwIfAborted()
      if (rows.length > 0) {
        await sink.write(lead + lines(rows))
        lead = ''
      }
      sum.read += read
      sum.rows += rows.length
      progress.at(sum.read)
    }
    if (wanted !== undefined && sum.read > 0 && !tabs.has(wanted)) {
      const hint = tabHint(tab ?? '', tabs.values())
      throw new UsageError(`The journal has no tab of the name that --tab says. ${hint}`)
    }
    if (lead !== '') await sink.write(lead)
    const { held } = await reader.beside()
    if (held > 0) {
      const left = `Left out, as they are held: ${counted(held, 'signup')}.`
      notes.tell(`${left} ${rollcall('quarantine --json')} has them.`)
    }
    await file?.finish()
    if (out !== undefined) notes.tell(`Exported ${counted(sum.rows, 'signup')} to ${resolve(out)}`)
    return {}
  },
)

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
