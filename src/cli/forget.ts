import { type Command, InvalidArgumentError } from '@commander-js/extra-typings'
import { loadConfig } from '../config/config.ts'
import { readEnvironment } from '../config/env.ts'
import type { Erasure } from '../journal/contracts/erasure.ts'
import { journalHomeOf } from '../service/journal-home.ts'
import { finishForgetting } from '../service/forgetting.ts'
import { partOf } from '../journal/contracts/journal.ts'
import type { JournalHome } from '../journal/contracts/journal-home.ts'
import { emailProblem, storedEmail } from '../signup/email.ts'
import { expiredUpTo } from './expired.ts'
import { exit, type ExitCode, type Run, type Session, UsageError } from './session.ts'
import { chosenName } from './site-option.ts'
import { counted } from './terminal/counted.ts'

interface Options {
  readonly site?: string
  readonly json?: true
  readonly wait: number
}

/** What was done for one person, and what was not. */
export interface Forgotten {
  /** Whether nothing waits and no file has the address. */
  readonly done: boolean
  readonly signups: {
    readonly erased: number
    /** Those of them that had no row, and get none. */
    readonly unwritten: number
    /** Those in a batch that is on its way: they are erased when it has ended. */
    readonly inBatch: number
  }
  readonly rows: {
    readonly removed: number
    /** Rows that were not in the spreadsheet, or had another address. */
    readonly notFound: number
    /** Rows that wait to be removed, of all people who were forgotten. */
    readonly waiting: number
    /** Rows of the address with another time: edited ones, or later signups. */
    readonly others: number
  }
  /** Why rows wait; null when nothing waits or the reason is not known. */
  readonly reason: string | null
  /** Sites where rows wait because the settings do not have them. */
  readonly absentSites: readonly string[]
  /** Signups of other people that name the address in another cell. */
  readonly mentions: number
  /** Files in DATA_DIR that still have the address. */
  readonly files: readonly string[]
  readonly byHand: readonly string[]
}

/** What Rollcall cannot reach. */
const byHand = [
  'exports and backups that were made before',
  "the spreadsheet's own version history, and copies of it",
  'spreadsheets that were used earlier',
]

/** What a database keeps of a row that was changed, until it cleans up by itself or is told to. */
const databaseCopies =
  "the database's own copies: VACUUM removes dead rows, ANALYZE old statistics; its write-ahead log, replicas and server log stay"

const inputCharactersMax = 1_000

export function addForget(program: Command, run: Run): void {
  program
    .command('forget')
    .description('erase a person from the journal and from the spreadsheet')
    .argument('<address>', 'the email address, or - to read it from standard input')
    .option(
      '--site <name>',
      'only at this site; otherwise at all, also at those that are not in the settings',
    )
    .option('--wait <seconds>', 'how long to wait for the spreadsheet', parseSeconds, 60)
    .option('--json', 'print JSON, for programs')
    .addHelpText(
      'after',
      '\nArguments are public on a machine with several users: prefer -, as in\n' +
        '  rollcall forget - < file-with-the-address\n' +
        'Exit code 1: something waits, and is done later by the service or the next forget.',
    )
    .action((address, options) => run((session) => forget(session, address, options)))
}

async function forget(session: Session, given: string, options: Options): Promise<ExitCode> {
  const { clock, out, stop } = session
  const { config, secrets } = loadConfig(readEnvironment())
  const address = storedEmail(given === '-' ? await readInput(stop) : given)
  if (emailProblem(address) !== undefined) {
    throw new UsageError('Give one email address, or - to read it from standard input.')
  }
  const home = journalHomeOf(config, secrets, session)
  const known = await siteNames(home)
  const names = options.site === undefined ? known : [chosenName(config, known, options.site)]
  await using opened = await home.openBeside(known)
  const journals = new Map(names.map((name) => [name, partOf(opened.sites, { name })]))
  const erased = new Map<string, Erased>()
  for (const [name, { erasure }] of journals) {
    erased.set(name, await erase(erasure, address, session))
  }
  const waitMs = options.wait * 1000
  const finished = await finishForgetting({ config, secrets, home, journals, clock, stop, waitMs })
  const { frozen, removals, reason = null, absentSites } = finished
  const rows = { removed: 0, notFound: 0, waiting: removals + frozen, others: 0 }
  for (const [name, { erasure }] of journals) {
    const others = await countOutcomes(erasure, erased.get(name), rows)
    rows.others += others
  }
  const files = await home.filesWith(address)
  const expired = await Promise.all(
    Array.from(journals.values(), ({ reader }) => expiredUpTo(reader)),
  )
  const upTo = expired.reduce((last, it) => (it !== null && it > (last ?? '') ? it : last), null)
  const sum = sumOf([...erased.values()])
  const inBatch = Math.min(frozen, sum.frozen.length)
  const count = sum.unwritten + sum.written.length + sum.frozen.length - inBatch
  const result: Forgotten = {
    done: rows.waiting === 0 && (files ?? []).length === 0,
    signups: { erased: count, unwritten: sum.unwritten, inBatch },
    rows,
    reason: rows.waiting > 0 ? reason : null,
    absentSites,
    mentions: sum.mentions,
    files: files ?? [],
    byHand: [
      ...byHand,
      ...(upTo === null ? [] : [`rows of the address that were written up to ${upTo}`]),
      ...(files ? [] : inDatabase(home)),
    ],
  }
  if (options.json) await out.json(result)
  else for (const line of describe(result, files)) await out.line(line)
  return result.done ? exit.done : exit.notAll
}

/** What to do by hand when the journal is in a database. */
function inDatabase(home: Pick<JournalHome, 'leftBehind'>): string[] {
  const old = home.leftBehind()
  return [databaseCopies, ...(old ? [`the journal of before DATABASE_URL, ${old.path}`] : [])]
}

/** The names of all sites of the journal. Rejects when there is none: opening it to write would make it. */
async function siteNames(home: Pick<JournalHome, 'openReader'>): Promise<readonly string[]> {
  await using reading = await home.openReader()
  return [...reading.sites.keys()]
}

/** Counts what became of a site's rows. Returns how many other rows of the address it has. */
async function countOutcomes(
  erasure: Erasure,
  { written, frozen }: Pick<Erased, 'written' | 'frozen'> = { written: [], frozen: [] },
  rows: { removed: number; notFound: number },
): Promise<number> {
  let others = 0
  for (const position of [...written, ...frozen]) {
    const outcome = await erasure.takeOutcome(position)
    if (!outcome) continue
    rows[outcome.wasFound ? 'removed' : 'notFound'] += 1
    others = Math.max(others, outcome.others)
  }
  return others
}

function sumOf(parts: readonly Erased[]): Erased {
  const sum: Erased = { unwritten: 0, mentions: 0, written: [], frozen: [] }
  for (const part of parts) {
    sum.unwritten += part.unwritten
    sum.mentions += part.mentions
    sum.written.push(...part.written)
    sum.frozen.push(...part.frozen)
  }
  return sum
}

interface Erased {
  unwritten: number
  mentions: number
  readonly written: number[]
  readonly frozen: number[]
}

async function erase(
  erasure: Erasure,
  address: string,
  { notes, stop }: Pick<Session, 'notes' | 'stop'>,
): Promise<Erased> {
  const last = await erasure.forget(address)
  const erased: Erased = { unwritten: 0, mentions: 0, written: [], frozen: [] }
  using progress = notes.progress('signups searched', last)
  for (let after: number | undefined = 0; after !== undefined;) {
    const slice = await erasure.eraseNext(after, address)
    erased.unwritten += slice.unwritten
    erased.mentions += slice.mentions
    erased.written.push(...slice.written)
    erased.frozen.push(...slice.frozen)
    after = slice.next
    progress.at(after ?? last)
    stop.throwIfAborted()
  }
  return erased
}

function describe(
  { signups, rows, reason, absentSites, mentions, byHand: left }: Forgotten,
  files: readonly string[] | undefined,
): string[] {
  const { erased, unwritten, inBatch } = signups
  const why = reason === null ? '' : ` The spreadsheet says: ${reason}.`
  return [
    ...(erased === 0 && inBatch === 0
      ? ['No signup has this address: check its spelling. Imports refuse it from now on.']
      : [`Erased from the journal: ${counted(erased, 'signup')}.`]),
    ...(unwritten > 0 ? [`Of these ${unwritten} waited, and get no row.`] : []),
    `Removed from the spreadsheet: ${counted(rows.removed, 'row')}.`,
    ...(inBatch > 0
      ? [`In a batch that is on its way: ${inBatch}. They are erased when it has ended.`]
      : []),
    ...(rows.waiting > 0
      ? [
          `Waiting: ${counted(rows.waiting, 'row')}.${why} The service removes them when it can; so does the next forget.`,
        ]
      : []),
    ...(absentSites.length > 0
      ? [
          `Not in the settings: ${absentSites.join(', ')}. Put back into the file what is missing: its rows are removed only then.`,
        ]
      : []),
    ...(rows.notFound > 0
      ? [
          `Not found: ${counted(rows.notFound, 'row')}. A person has deleted them or changed their address.`,
        ]
      : []),
    ...(rows.others > 0
      ? [
          `Left: ${counted(rows.others, 'row')} with the address and another time. They are of later signups, or a person has changed their time: look at them.`,
        ]
      : []),
    ...(mentions > 0
      ? [`Left: ${counted(mentions, 'signup')} of other people with the address in another cell.`]
      : []),
    ...(files?.length === 0 ? ['No file in DATA_DIR has the address.'] : []),
    ...(files?.length ? [`Files in DATA_DIR that have the address: ${files.join(', ')}.`] : []),
    `Not reached, to do by hand: ${left.join('; ')}.`,
  ]
}

function parseSeconds(text: string): number {
  if (/^\d{1,5}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('Give whole seconds, such as 60.')
}

async function readInput(stop: AbortSignal): Promise<string> {
  let text = ''
  stop.addEventListener('abort', () => process.stdin.destroy(), { once: true })
  for await (const chunk of process.stdin.setEncoding('utf8')) {
    text += String(chunk)
    if (text.length > inputCharactersMax) break
  }
  return text
}
