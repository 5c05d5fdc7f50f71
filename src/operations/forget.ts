import { rollcall } from '../platform/command-words.ts'
import type { Erasure } from '../journal/contracts/erasure.ts'
import type { Journal } from '../journal/contracts/journal.ts'
import type { JournalHome } from './journal-home.ts'
import type { Clock } from '../platform/clock.ts'
import type { Millis } from '../signup/signup.ts'
import { besideOf } from './pages-of.ts'
import { expiredUpTo } from './retention.ts'
import { counted } from './words.ts'
import { digits } from '../platform/digits.ts'

/** What was done for one person, and what was not. */
export type Forgotten = Awaited<ReturnType<typeof forget>>

/** What Rollcall cannot reach. */
const byHand = [
  'exports and backups that were made before',
  'lists that were imported, and their rejected rows (.rejected.csv)',
  "the spreadsheet's own version history, and copies of it",
  'spreadsheets that were used earlier',
  'mails that were sent, in mailboxes and logs of mail servers',
  'what programs keep that webhooks have told',
]

/** What the service itself does not read: to close a file ends all locks that its process has on it. */
const unreadFiles = `other files in DATA_DIR, through which ${rollcall('forget')} looks`

/** What a database keeps of a row that was changed, until it cleans up by itself or is told to. */
const databaseCopies =
  "the database's own copies: VACUUM removes dead rows, ANALYZE old statistics; its write-ahead log, replicas and server log stay"

export interface ForgetOptions {
  /** The sites where the person is forgotten, by name. */
  readonly journals: ReadonlyMap<string, Journal>
  readonly home: Pick<JournalHome, 'leftBehind'> & Partial<Pick<JournalHome, 'filesWith'>>
  /** Begins to remove rows, unless a service does it. */
  readonly startRemoval: () => Promise<RowRemoval>
  /** The sites that have a spreadsheet. Rows of others are not waited for. */
  readonly reachable: ReadonlySet<string>
  readonly clock: Clock
  /** Aborts to wait no longer. */
  readonly stop: AbortSignal
  readonly waitMs: Millis
  /** Told for each site, again and again, up to which of its signups it was searched. */
  readonly searched: (done: number) => void
}

/** Removes the rows of forgotten people, until it is disposed. */
export interface RowRemoval extends AsyncDisposable {
  /** Why rows of a site wait, in the words of the provider; undefined when that is not known. */
  reasonAt(site: string): Promise<string | undefined>
}

const lookMs = 100
/** How long to try to empty the journal's log, which others may be reading. */
const scrubMaxMs = 5_000

/**
 * Erases the signups of this address at these sites, and waits until their rows are removed and no frozen
 * batch holds one of them. What is not done by then waits in the journal.
 */
export async function forget(address: string, options: ForgetOptions) {
  const { journals, home, reachable } = options
  const erased = new Map<string, Erased>()
  const beside = { pending: 0, mails: 0, blocks: 0 }
  for (const [name, { erasure, confirmation }] of journals) {
    for await (const { pending, messages, block, next } of besideOf(confirmation, address)) {
      beside.pending += pending.length
      beside.mails += messages.length
      if (block && !next) beside.blocks += 1
    }
    erased.set(name, await eraseAll(erasure, address, options))
  }
  const sum = (of: (site: Erased) => number) =>
    [...erased.values()].reduce((all, it) => all + of(it), 0)
  const before = await waitingOf(address, journals, erased)
  const reason = await removeRows(options)
  const until = options.clock.elapsed() + scrubMaxMs
  for (const { erasure } of journals.values()) {
    await isTrueBy(until, () => erasure.scrub(), options)
  }
  const { waiting, inBatch, sites } = await waitingOf(address, journals, erased)
  // A running service may have removed some before they were counted.
  const found = sum((it) => it.written.length + it.frozen.length)
  const rows = { toGo: Math.max(found, before.waiting), waiting }
  const files = home.filesWith ? await home.filesWith(address) : undefined
  const unsearched = home.filesWith ? databaseCopies : unreadFiles
  const old = home.leftBehind()
  const unwritten = sum((it) => it.unwritten)
  return {
    // Whether nothing waits and no file has the address.
    done: waiting === 0 && (files ?? []).length === 0,
    signups: {
      erased: unwritten + sum((it) => it.written.length + it.frozen.length) - inBatch,
      // Those of them that had no row, and get none.
      unwritten,
      // Those in a batch that is on its way: they are erased when it has ended.
      inBatch,
    },
    // What was erased beside the list, and at how many sites a hash stays that keeps mails from the address.
    beside,
    rows,
    // Why rows wait; null when nothing waits or the reason is not known.
    reason: waiting > 0 ? (reason ?? null) : null,
    // Sites where rows wait because the settings do not have them.
    absentSites: sites.filter((name) => !reachable.has(name)),
    // Signups of other people that name the address in another cell.
    mentions: sum((it) => it.mentions),
    // Those in DATA_DIR that still have the address.
    files: files ?? [],
    byHand: [
      ...byHand,
      ...(await expiredRows(journals)),
      ...(files ? [] : [unsearched]),
      ...(old ? [`the journal of before DATABASE_URL, ${old.path}`] : []),
    ],
  }
}

type Erased = Awaited<ReturnType<typeof eraseAll>>

export async function eraseAll(
  erasure: Erasure,
  address: string,
  { searched, stop }: Pick<ForgetOptions, 'searched' | 'stop'>,
) {
  const last = await erasure.forget(address)
  const erased = { unwritten: 0, mentions: 0, written: [] as number[], frozen: [] as number[] }
  for (let after: number | undefined = 0; after !== undefined;) {
    const slice = await erasure.eraseNext(after, address)
    erased.unwritten += slice.unwritten
    erased.mentions += slice.mentions
    erased.written.push(...slice.written)
    erased.frozen.push(...slice.frozen)
    after = slice.next
    searched(after ?? last)
    stop.throwIfAborted()
  }
  return erased
}

/** Waits until the rows are removed. Returns why some wait. */
async function removeRows(options: ForgetOptions): Promise<string | undefined> {
  const { journals, reachable, startRemoval, clock, waitMs } = options
  /** At which sites rows or signups in batches wait, of all people. */
  const unfinished = async () => {
    const sites: string[] = []
    for (const [name, { erasure }] of journals) {
      const { removals, frozen } = await erasure.unfinished()
      if (reachable.has(name) && removals + frozen > 0) sites.push(name)
    }
    return sites
  }
  const isDone = async () => (await unfinished()).length === 0
  if (await isDone()) return undefined
  await using removal = await startRemoval()
  await isTrueBy(clock.elapsed() + waitMs, isDone, options)
  const sites = await unfinished()
  const reasons = await Promise.all(sites.map((site) => removal.reasonAt(site)))
  return reasons.find((reason) => reason !== undefined)
}

/** How many rows and signups in batches of this address wait, how many are in batches, and at which sites. */
async function waitingOf(
  address: string,
  journals: ReadonlyMap<string, Journal>,
  erased: ReadonlyMap<string, Erased>,
) {
  const sum = { waiting: 0, inBatch: 0, sites: [] as string[] }
  for (const [name, { erasure }] of journals) {
    const frozenMax = erased.get(name)?.frozen.length ?? 0
    const inBatch = Math.min(frozenMax, (await erasure.unfinished()).frozen)
    let waiting = inBatch
    for (let rows = await erasure.removals(0); rows.length > 0;) {
      waiting += rows.filter((it) => it.email.toLowerCase() === address.toLowerCase()).length
      rows = await erasure.removals(rows.at(-1)?.position ?? Infinity)
    }
    sum.waiting += waiting
    sum.inBatch += inBatch
    if (waiting > 0) sum.sites.push(name)
  }
  return sum
}

/** Waits until something is true. Returns whether it is before the clock has elapsed to `until`, or a stop. */
export async function isTrueBy(
  until: Millis,
  isTrue: () => Promise<boolean>,
  { clock, stop }: Pick<ForgetOptions, 'clock' | 'stop'>,
): Promise<boolean> {
  for (;;) {
    if (await isTrue()) return true
    if (stop.aborted || clock.elapsed() >= until) return false
    await clock.sleep(lookMs, stop)
  }
}

/** Rows of signups that retention has erased: nobody knows any more whose they are. */
async function expiredRows(journals: ReadonlyMap<string, Journal>): Promise<readonly string[]> {
  const times = await Promise.all(Array.from(journals.values(), (it) => expiredUpTo(it.reader)))
  const last = times
    .filter((time) => time !== null)
    .toSorted()
    .at(-1)
  return last === undefined ? [] : [`rows of the address that were written up to ${last}`]
}

/** What was done, in sentences without the address. */
export function forgottenWords(
  { signups, beside, rows, reason, absentSites, mentions, files, byHand: left }: Forgotten,
  isInDatabase: boolean,
): string[] {
  const { erased, unwritten, inBatch } = signups
  const before = files.some((name) => name.startsWith('journal.db.before-'))
    ? ' Delete a journal that a restore has put aside (.before-) when you do not need it any more.'
    : ''
  return [
    erased + inBatch + beside.pending + beside.mails === 0
      ? 'No signup has this address: check its spelling. Imports refuse it from now on.'
      : `Erased from the journal: ${counted(erased, 'signup')}.`,
    unwritten > 0 && `Of these ${unwritten} waited, and get no row.`,
    beside.pending + beside.mails > 0 &&
      `Erased as well: ${counted(beside.pending, 'signup')} that waited for a confirmation, ${counted(beside.mails, 'mail')}.`,
    beside.blocks > 0 &&
      `Kept: a keyed hash of the address, by which it gets no mail, as the person wanted. ${rollcall('mail allow')} ends that.`,
    `To go from the spreadsheet: ${removalWords(rows, reason)}`,
    inBatch > 0 && `In a batch that is on its way: ${inBatch}. They are erased when it has ended.`,
    absentSites.length > 0 &&
      `Put these sites back into the file of ROLLCALL_CONFIG, as their rows stay until then: ${absentSites.join(', ')}.`,
    mentions > 0 &&
      `Left: ${counted(mentions, 'signup')} of other people with the address in another cell.`,
    files.length > 0 && `Files in DATA_DIR that have the address: ${files.join(', ')}.${before}`,
    files.length === 0 &&
      !isInDatabase &&
      !left.includes(unreadFiles) &&
      'No file in DATA_DIR has the address.',
    `Not reached, to do by hand: ${left.join('; ')}.`,
  ].filter((line) => line !== false)
}

/** Whether rows have gone, in a sentence or two. */
function removalWords(
  { toGo, waiting }: { readonly toGo: number; readonly waiting: number },
  reason: string | null,
): string {
  const count = `${counted(toGo, 'row')}.`
  if (waiting === 0) return toGo === 0 ? count : `${count} That is done.`
  const why = reason === null ? '' : ` The spreadsheet says: ${reason}.`
  return `${count} Waiting: ${digits(waiting)}.${why} The service removes what it can; so does the next forget.`
}
