import type { Journal } from '../journal/contracts/journal.ts'
import type { Released } from '../journal/contracts/quarantine.ts'
import type { Reader, SignupRecord } from '../journal/contracts/reader.ts'
import { rollcall } from '../platform/command-words.ts'
import type { Millis, SignupId } from '../signup/signup.ts'
import { type ForgetOptions, isTrueBy } from './forget.ts'
import { pagesOf } from './pages-of.ts'
import { counted } from './words.ts'
import { digits } from '../platform/digits.ts'

/** Which held signups are meant: these and those of these addresses, or all that the filters leave. */
export interface Choice {
  readonly ids?: readonly SignupId[]
  /** In lower case. */
  readonly addresses?: readonly string[]
  /** The domain of the address, in lower case. */
  readonly domain?: string | undefined
  /** From this time on. */
  readonly since?: Millis | undefined
}

const readAtOnce = 100
/** One transaction, which takes some milliseconds. */
const decidedAtOnce = 100

/** The held signups of a site that the choice leaves, page by page, whatever their ids. */
export async function* heldSignups(
  reader: Pick<Reader, 'held'>,
  { addresses, domain, since = -Infinity }: Omit<Choice, 'ids'>,
  stop: AbortSignal,
): AsyncGenerator<readonly SignupRecord[]> {
  const isMeant = (email: string) =>
    addresses
      ? addresses.includes(email.toLowerCase())
      : domain === undefined || email.endsWith(`@${domain}`)
  for await (const page of pagesOf(readAtOnce, (after) => reader.held(after, readAtOnce))) {
    stop.throwIfAborted()
    yield page.filter(({ signup: { email, receivedAt } }) => {
      return receivedAt >= since && isMeant(email)
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

export interface DecisionOptions extends Pick<
  ForgetOptions,
  'journals' | 'clock' | 'stop' | 'waitMs'
> {
  /** Whether to tell what would be done, and to do nothing. */
  readonly isTrial: boolean
  readonly progress: (done: number) => void
}

/**
 * Releases or erases the chosen signups of these sites. Those in a batch that is on its way are released when
 * that has ended, if it does within `waitMs`.
 */
export async function decide(decision: Decision, choice: Choice, options: DecisionOptions) {
  const { journals, isTrial, clock, stop, waitMs, progress } = options
  const missed = new Set<string>([...(choice.ids ?? []), ...(choice.addresses ?? [])])
  let [signups, inBatch] = [0, 0]
  const until = clock.elapsed() + waitMs
  for (const journal of journals.values()) {
    /** Decides on a few at once. Returns those in a batch that is on its way. */
    const decideOn = async (positions: readonly number[]) => {
      const left: number[] = []
      for (let at = 0; at < positions.length; at += decidedAtOnce) {
        const some = positions.slice(at, at + decidedAtOnce)
        const done = await decided(journal, decision, some, options)
        left.push(...done.frozen)
        signups += done.signups
        progress(signups)
        stop.throwIfAborted()
      }
      return left
    }
    let frozen: number[] = []
    for await (const page of chosen(journal, choice, stop)) {
      frozen.push(...(await decideOn(page.map(({ position }) => position))))
      for (const { signup } of page) {
        missed.delete(signup.id)
        missed.delete(signup.email.toLowerCase())
      }
    }
    const areReleased = async () => (frozen = await decideOn(frozen)).length === 0
    if (frozen.length > 0) await isTrueBy(until, areReleased, options)
    inBatch += frozen.length
    // Nothing is left of what was erased, unless another process keeps the log from shrinking just now.
    if (!isTrial) await journal.erasure.scrub()
  }
  // How many of the given ids and addresses are not held, and how many signups are in a batch that is on its way.
  return { signups, inBatch, notHeld: missed.size }
}

async function decided(
  journal: Journal,
  decision: Decision,
  positions: readonly number[],
  { isTrial, clock }: DecisionOptions,
): Promise<Released> {
  if (isTrial) return { signups: positions.length, frozen: [] }
  const { quarantine, time = clock } = journal
  if (decision === 'release') return quarantine.release(positions, time.now())
  return { signups: await quarantine.erase(positions), frozen: [] }
}

async function* chosen({ quarantine, reader }: Journal, choice: Choice, stop: AbortSignal) {
  if (choice.ids) yield await quarantine.find(choice.ids)
  if (choice.addresses ? choice.addresses.length > 0 : !choice.ids) {
    yield* heldSignups(reader, choice, stop)
  }
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
  { signups, inBatch, notHeld }: Decided,
  { isTrial = false, confirms = false },
): string[] {
  const verb = words[decision][isTrial ? 'does' : 'did']
  return [
    `${verb}: ${counted(signups, 'signup')}.`,
    inBatch > 0 &&
      `In a batch that is on its way, and still held: ${digits(inBatch)}. Release them again when it has ended; ${rollcall('status')} tells what delays it.`,
    notHeld > 0 &&
      `Not held: ${digits(notHeld)} of those given, as they were decided on before, or never were held.`,
    decision === 'release' && confirms && mailsThen,
  ].filter((line) => line !== false)
}
