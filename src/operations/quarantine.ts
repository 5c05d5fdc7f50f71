import type { Journal } from '../journal/contracts/journal.ts'
import type { Left } from '../journal/contracts/quarantine.ts'
import type { Reader, SignupRecord } from '../journal/contracts/reader.ts'
import type { Millis, SignupId } from '../signup/signup.ts'
import { countOutcomes, noRows, removeRows, type RemovalWait } from './forget.ts'
import { pagesOf } from './pages-of.ts'
import { counted, digits } from './words.ts'

/** Which signups in quarantine are meant: these, or all that the filters leave. */
export interface Choice {
  readonly ids?: readonly SignupId[]
  /** The domain of the address, in lower case. */
  readonly domain?: string | undefined
  /** From this time on. */
  readonly since?: Millis | undefined
}

const readAtOnce = 1_000
/** One transaction, which takes some milliseconds. */
const decidedAtOnce = 100

/** The signups of a site in quarantine that the filters leave, page by page. */
export async function* heldSignups(
  reader: Pick<Reader, 'held'>,
  { domain, since = -Infinity }: Omit<Choice, 'ids'>,
  stop: AbortSignal,
): AsyncGenerator<readonly SignupRecord[]> {
  const isOfDomain = (email: string) => domain === undefined || email.endsWith(`@${domain}`)
  for await (const page of pagesOf(readAtOnce, (after) => reader.held(after, readAtOnce))) {
    stop.throwIfAborted()
    yield page.filter(({ signup: { email, receivedAt } }) => {
      return receivedAt >= since && isOfDomain(email)
    })
  }
}

/** The domain that somebody has typed, with or without an @ before it; undefined when it is none. */
export function domainOf(text: string): string | undefined {
  const domain = text.toLowerCase().replace(/^@/, '')
  return domain === '' || domain.includes('@') ? undefined : domain
}

export type Decision = 'release' | 'erase'

/** What was done, or would be. */
export type Decided = Awaited<ReturnType<typeof decide>>

export interface DecisionOptions extends RemovalWait {
  /** Whether to tell what would be done, and to do nothing. */
  readonly isTrial: boolean
  readonly progress: (done: number) => void
}

/**
 * Releases or erases the chosen signups of these sites, and waits until their rows are removed from the
 * quarantine tab. What is not removed by then waits in the journal.
 */
export async function decide(decision: Decision, choice: Choice, options: DecisionOptions) {
  const { journals, isTrial, clock, stop, progress } = options
  const left = new Map<Journal, readonly number[]>()
  let signups = 0
  for (const journal of journals.values()) {
    const rows: number[] = []
    for await (const page of chosen(journal, choice, stop)) {
      for (let at = 0; at < page.length; at += decidedAtOnce) {
        const positions = page.slice(at, at + decidedAtOnce).map(({ position }) => position)
        const done = isTrial
          ? undefined
          : await journal.quarantine[decision](positions, (journal.time ?? clock).now())
        if (done) rows.push(...done.written, ...done.frozen)
        signups += done ? countOf(done) : positions.length
        progress(signups)
        stop.throwIfAborted()
      }
    }
    left.set(journal, rows)
  }
  const all = [...left.values()].reduce((sum, rows) => sum + rows.length, 0)
  const reason = all > 0 ? await removeRows(options) : undefined
  const outcomes = { ...noRows }
  for (const [{ erasure }, rows] of left) {
    // Nothing is left of what was erased, unless another process keeps the log from shrinking just now.
    await erasure.scrub()
    await countOutcomes(erasure, rows, outcomes)
  }
  const { removed, notFound } = outcomes
  const waiting = all - removed - notFound
  return {
    signups,
    // Those of them in the quarantine tab.
    rows: { removed, notFound, waiting },
    reason: waiting > 0 ? (reason ?? null) : null,
    // How many of the given ids are not in quarantine.
    notHeld: new Set(choice.ids).size - (choice.ids ? signups : 0),
  }
}

async function* chosen({ quarantine, reader }: Journal, choice: Choice, stop: AbortSignal) {
  if (choice.ids) yield await quarantine.find(choice.ids)
  else yield* heldSignups(reader, choice, stop)
}

function countOf({ unwritten, written, frozen }: Left): number {
  return unwritten + written.length + frozen.length
}

const mailsThen =
  'Those that still have to be confirmed get their mail then, and no row before their person confirms them.'

const words = {
  release: { does: 'Would release', did: 'Released' },
  erase: { does: 'Would erase', did: 'Erased' },
} as const

/** What was decided, in sentences. @param confirms whether signups are confirmed by mail */
export function decidedWords(
  decision: Decision,
  { signups, rows, reason, notHeld }: Decided,
  { isTrial = false, confirms = false },
): string[] {
  const verb = words[decision][isTrial ? 'does' : 'did']
  const why = reason === null ? '' : ` The spreadsheet says: ${reason}.`
  return [
    `${verb}: ${counted(signups, 'signup')}.`,
    !isTrial && `Removed from the quarantine tab: ${counted(rows.removed, 'row')}.`,
    rows.notFound > 0 &&
      `Not found there: ${counted(rows.notFound, 'row')}. A person has deleted them or changed their address.`,
    rows.waiting > 0 &&
      `Waiting to be removed there: ${counted(rows.waiting, 'row')}.${why} The service removes what it can.`,
    notHeld > 0 &&
      `Not in quarantine: ${digits(notHeld)} of the ids, as they were decided on before, or never were there.`,
    decision === 'release' && confirms && mailsThen,
  ].filter((line) => line !== false)
}
