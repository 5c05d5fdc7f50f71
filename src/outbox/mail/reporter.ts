import { unlessUnavailable } from '../../journal/contracts/errors.ts'
import type { Journal } from '../../journal/contracts/journal.ts'
import { type Clock, day, everySo, hour, minute } from '../../platform/clock.ts'
import type { Digest } from '../../platform/digest.ts'
import type { Millis } from '../../signup/signup.ts'
import type { Report } from './report.ts'

export interface ReporterOptions {
  /** The name of the site. */
  readonly site: string
  readonly when: 'daily' | 'hourly'
  /** Where the rows go: a URL or a folder. */
  readonly location: string
  readonly journal: {
    readonly reader: Pick<Journal['reader'], 'page' | 'held' | 'beside'>
    readonly delivery: Pick<Journal['delivery'], 'fact' | 'noteFact'>
    readonly outbox: Pick<Journal['outbox'], 'add'>
  }
  readonly clock: Pick<Clock, 'sleep'>
  /** The wall clock of the journal. */
  readonly time: Pick<Clock, 'now'>
  readonly digest: Digest
  readonly delivers: () => boolean
  /** How often to look whether a report is due; a minute when left out. */
  readonly lookMs?: Millis | undefined
  readonly events: { readonly crashed: (error: unknown) => void }
}

/** How far the list was reported. */
interface Reported {
  readonly when: ReporterOptions['when']
  /** The number of the day or hour that has the next report to come, since the Unix epoch. */
  readonly period: number
  readonly at: Millis
  readonly position: number
  readonly blocked: number
  readonly pending: number
  /** A report that may not be in the outbox yet. */
  readonly message?: { readonly id: string; readonly body: string } | undefined
}

const fact = 'reported'
const pageRows = 500
/** How many tabs and sources are told one by one. */
const namesMax = 100

/**
 * Makes the mail to the owner, when a day or an hour is over (in UTC) and there is something to tell, until
 * it is disposed of. The text is noted together with how far it reaches, and added to the outbox then, under
 * an id of its period: so a crash neither loses a signup from the reports nor tells one twice.
 */
export function startReporter(options: ReporterOptions): AsyncDisposable {
  const { site, when, location, journal, clock, time, digest, delivers, events } = options
  const { lookMs = minute } = options
  const lookIfDelivering = async (signal: AbortSignal) => {
    if (delivers()) await unlessUnavailable(look(signal))
  }
  return everySo(clock, lookMs, lookIfDelivering, events.crashed)

  async function look(signal: AbortSignal): Promise<void> {
    const now = time.now()
    const period = Math.floor(now / (when === 'daily' ? day : hour))
    const text = await journal.delivery.fact(fact)
    const before = text === undefined ? undefined : (JSON.parse(text) as Reported)
    if (before?.message) {
      await add(before.message, now)
      await note({ ...before, message: undefined })
    }
    // A period far ahead is from before the clock was set back.
    const isEarly = before?.when === when && period <= before.period && period >= before.period - 1
    if (isEarly) return
    const { position, ...counts } = await countAfter(before?.position ?? 0, journal.reader, signal)
    if (signal.aborted) return
    const { pending, blocked } = await journal.reader.beside()
    const reported: Reported = { when, period, at: now, position, pending, blocked }
    const hasNews =
      counts.accepted + counts.quarantined > 0 ||
      pending !== before?.pending ||
      blocked !== before.blocked
    // Who turns this on wants no report of all that was before.
    if (!before || !hasNews) return note(reported)
    const newBlocked = Math.max(0, blocked - before.blocked)
    const of = { site, location, from: before.at, to: now }
    const report: Report = { ...of, ...counts, pending, blocked, newBlocked }
    const hash = digest(`${site} ${when} ${period}`).slice(0, 22)
    const id = hash.replaceAll('+', '-').replaceAll('/', '_')
    const message = { id, body: JSON.stringify(report) }
    await note({ ...reported, message })
    await add(message, now)
  }

  async function note(reported: Reported): Promise<void> {
    if (delivers()) await journal.delivery.noteFact(fact, JSON.stringify(reported))
  }

  function add(message: NonNullable<Reported['message']>, at: Millis): Promise<void> {
    return journal.outbox.add({ ...message, kind: 'report', at })
  }
}

/** Counts what stands in the list after this position. Stops when the signal aborts. */
async function countAfter(
  after: number,
  reader: ReporterOptions['journal']['reader'],
  signal: AbortSignal,
) {
  const tabs = new Map<string, number>()
  const sources = new Map<string, number>()
  let position = after
  let [accepted, confirmed, quarantined] = [0, 0, 0]
  while (!signal.aborted) {
    const rows = await reader.page(position, pageRows)
    const held = await reader.held(position, pageRows)
    const heldAt = new Set(held.map((it) => it.position))
    for (const row of rows) {
      position = row.position
      if (heldAt.has(position)) {
        quarantined += 1
        continue
      }
      accepted += 1
      if (row.signup.confirmedAt !== undefined) confirmed += 1
      count(tabs, row.signup.sheetTab)
      count(sources, row.signup.source)
    }
    if (rows.length === 0) break
  }
  return { position, accepted, confirmed, quarantined, tabs: [...tabs], sources: [...sources] }
}

/** Counts the first hundred names, and all others together. No address gets into a mailbox, where nobody erases it. */
function count(counts: Map<string, number>, name: string): void {
  const isKnown = counts.has(name) || counts.size < namesMax
  const key = isKnown && !name.includes('@') ? name : 'other'
  counts.set(key, (counts.get(key) ?? 0) + 1)
}
