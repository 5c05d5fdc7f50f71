import { unlessUnavailable } from '../../journal/contracts/errors.ts'
import type { Journal } from '../../journal/contracts/journal.ts'
import type { Share } from '../../journal/contracts/reader.ts'
import { type Clock, day, everySo, hour, minute } from '../../platform/clock.ts'
import { sha256 } from '../../platform/digest.ts'
import type { Millis } from '../../signup/signup.ts'
import type { Report } from './report.ts'

export interface ReporterOptions {
  /** The name of the site. */
  readonly site: string
  readonly when: 'daily' | 'hourly'
  /** Where the rows go: a URL or a folder. */
  readonly location: string
  readonly journal: {
    readonly reader: Pick<Journal['reader'], 'figures' | 'shares' | 'beside'>
    readonly delivery: Pick<Journal['delivery'], 'fact' | 'noteFact'>
    readonly outbox: Pick<Journal['outbox'], 'add'>
  }
  readonly clock: Pick<Clock, 'elapsed' | 'sleep'>
  /** The wall clock of the journal. */
  readonly time: Pick<Clock, 'now'>
  readonly delivers: () => boolean
  /** How often to look whether a report is due; a minute when left out. */
  readonly lookMs?: Millis | undefined
  readonly events: { readonly crashed: (error: unknown) => void }
}

/** What was counted when it was reported. */
interface Reported {
  readonly when: ReporterOptions['when']
  /** The number of the day or hour that has the next report to come, since the Unix epoch. */
  readonly period: number
  readonly at: Millis
  readonly shares: readonly Share[]
  readonly confirmed: number
  readonly held: number
  readonly blocked: number
  readonly pending: number
  /** A report that may not be in the outbox yet. */
  readonly message?: { readonly id: string; readonly body: string } | undefined
}

const fact = 'reported'

/**
 * Makes the mail to the owner, when a day or an hour is over (in UTC) and there is something to tell, until
 * it is disposed of. It tells by how much the counts have grown. The text is noted together with them, and
 * added to the outbox then, under an id of its period: so a crash neither loses a signup from the reports nor
 * tells one twice.
 */
export function startReporter(options: ReporterOptions): AsyncDisposable {
  const { site, when, location, journal, clock, time, delivers, events } = options
  const { lookMs = minute } = options
  const lookIfDelivering = async () => {
    if (delivers()) await unlessUnavailable(look())
  }
  return everySo(clock, lookMs, lookIfDelivering, events.crashed)

  async function look(): Promise<void> {
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
    const { confirmed, held, pending } = (await journal.reader.figures()).all
    const { suspect, blocked, held: listed } = await journal.reader.beside()
    const shares = await journal.reader.shares()
    const counted = { shares, confirmed, held, pending, blocked }
    const reported: Reported = { when, period, at: now, ...counted }
    // Who turns this on wants no report of all that was before.
    if (!before) return note(reported)
    const counts = grown(before, reported)
    const hasNews =
      counts.accepted + counts.quarantined > 0 ||
      pending !== before.pending ||
      blocked !== before.blocked
    if (!hasNews) return note(reported)
    const of = { site, location, from: before.at, to: now }
    // Pending ones that are held are told as held.
    const beside = { pending: Math.max(0, pending - suspect), held: listed + suspect }
    const report: Report = { ...of, ...counts, ...beside, blocked }
    const hash = sha256(`${site} ${when} ${period}`).slice(0, 22)
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

/** What has come between two times at which it was counted. */
function grown(before: Reported, now: Reported) {
  const of = (kind: Share['kind']) =>
    now.shares.flatMap((share) => {
      if (share.kind !== kind) return []
      const { name = 'other' } = share
      const known = before.shares.find((it) => it.kind === kind && it.name === share.name)
      const count = share.count - (known?.count ?? 0)
      return count > 0 ? [[name, count] as const] : []
    })
  const more = (what: 'confirmed' | 'held' | 'blocked') => Math.max(0, now[what] - before[what])
  const tabs = of('tab')
  return {
    ...{ tabs, sources: of('source') },
    accepted: tabs.reduce((sum, [, count]) => sum + count, 0),
    confirmed: more('confirmed'),
    quarantined: more('held'),
    newBlocked: more('blocked'),
  }
}
