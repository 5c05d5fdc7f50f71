import { hash } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Journal } from '../journal/contracts/journal.ts'
import { type AddressSlice, recentMax } from '../journal/contracts/reader.ts'
import { iso, isoOrNull } from '../platform/clock.ts'
import { isIdEnd } from '../signup/id.ts'
import { parseObject } from '../signup/json.ts'
import type { Signup } from '../signup/signup.ts'
import { besideOf } from './pages-of.ts'
import { expiredUpTo } from './retention.ts'
import type { Endpoint } from './webhooks.ts'
import { counted, listOf } from './words.ts'

/** One thing that is kept about somebody, with its facts. Times are ISO 8601 in UTC. */
export interface Kept {
  /**
   * - `wording`: a text that a signup told later agreed to; `wording` of that signup is its number.
   * - `noMail`: why the site sends the address nothing, and until when: null for ever.
   * - `expired`: up to when RETENTION_DAYS has erased written signups, so that nobody knows whose they were.
   */
  readonly kind: 'wording' | 'signup' | 'pending' | 'mail' | 'noMail' | 'expired'
  readonly [fact: string]: unknown
}

type SearchedJournal = Pick<Journal, 'reader' | 'confirmation' | 'webhooks'>

interface Search {
  readonly journals: ReadonlyMap<string, SearchedJournal>
  readonly stop: AbortSignal
  /** Told for each site, again and again, up to which of all signups it was searched. */
  readonly searched?: (done: number) => void
}

interface PersonOptions extends Search {
  /** The webhooks of each site in the settings. */
  readonly endpoints: ReadonlyMap<string, readonly Endpoint[]>
}

/**
 * Tells all that the journal keeps about the person with this address, bit by bit: a stranger may have signed
 * it up any number of times. Letter case does not count.
 */
export async function* keptAbout(address: string, options: PersonOptions): AsyncGenerator<Kept> {
  const telling = new Telling(options)
  for (const [site, journal] of options.journals) {
    for await (const positions of positionsAt(journal, address, options)) {
      yield* telling.signups(site, positions)
    }
    yield* telling.beside(site, address)
  }
}

/** The same for one page: the newest `max` signups of all sites, and how many things are left out. */
export async function newestAbout(address: string, max: number, options: PersonOptions) {
  const telling = new Telling(options)
  let newest: { readonly site: string; readonly position: number }[] = []
  let all = 0
  for (const [site, journal] of options.journals) {
    for await (const positions of positionsAt(journal, address, options)) {
      all += positions.length
      newest.push(...positions.slice(-max).map((position) => ({ site, position })))
      newest = newest.toSorted((one, other) => one.position - other.position).slice(-max)
    }
  }
  const kept: Kept[] = []
  let left = all - newest.length
  for (const site of options.journals.keys()) {
    const own = newest.filter((one) => one.site === site).map(({ position }) => position)
    const signups = await Array.fromAsync(telling.signups(site, own))
    kept.push(...signups.toReversed())
    for await (const one of telling.beside(site, address)) {
      if (kept.length < besideMax + max) kept.push(one)
      else left += 1
    }
  }
  return { kept, left }
}

/**
 * Whom somebody means by an address, or by the end of an id: none when no signup with cells ends so, and two or more
 * addresses when those of several people do.
 */
export async function addressesOf(whom: string, options: Search): Promise<readonly string[]> {
  if (!isIdEnd(whom)) return [whom]
  const found = new Map<string, string>()
  for (const { reader } of options.journals.values()) {
    const read = (after: number) => reader.positionsEnding(whom, after)
    for await (const positions of slicesOf(read, options)) {
      for (const { signup } of await reader.at(positions.slice(0, recentMax)))
        found.set(signup.email.toLowerCase(), signup.email)
      if (found.size > 1) return [...found.values()]
    }
  }
  return [...found.values()]
}

/** Where the signups of an address are, slice by slice. Other work runs between two slices. */
function positionsAt({ reader }: SearchedJournal, address: string, options: Search) {
  return slicesOf((after) => reader.positionsOf(address, after), options)
}

async function* slicesOf(
  read: (after: number) => Promise<AddressSlice>,
  { stop, searched }: Search,
): AsyncGenerator<readonly number[]> {
  for (let after: number | undefined = 0; after !== undefined;) {
    stop.throwIfAborted()
    const { positions, next, upto } = await read(after)
    searched?.(upto)
    yield positions
    after = next
    await nextTurn()
  }
}

/** How many things beside the list one page shows, wordings among them. */
const besideMax = 200
/** How many texts are known as told: a site has a few, and a stranger may send any number. */
const wordingsMax = 1_000

/** Tells what is kept about one person, and each wording once. */
class Telling {
  readonly #options: PersonOptions
  /** The numbers of wordings, by their digests. */
  readonly #wordings = new Map<string, number>()
  #wordingsTold = 0

  constructor(options: PersonOptions) {
    this.#options = options
  }

  async *signups(site: string, positions: readonly number[]): AsyncGenerator<Kept> {
    const { journals, endpoints, stop } = this.#options
    const journal = journals.get(site)
    for (let at = 0; at < positions.length; at += recentMax) {
      stop.throwIfAborted()
      const found = (await journal?.reader.at(positions.slice(at, at + recentMax))) ?? []
      const ids = found.map(({ signup }) => signup.id)
      const passed = await Promise.all(
        (endpoints.get(site) ?? []).map(async ({ number, host, key }) => {
          return { webhook: number, host, ids: (await journal?.webhooks.passed(key, ids)) ?? [] }
        }),
      )
      for (const { signup, state, writtenAt } of found) {
        yield* this.#told({ kind: 'signup', site, state }, signup, {
          confirmedAt: isoOrNull(signup.confirmedAt),
          writtenAt: isoOrNull(writtenAt),
          // The signs of spam for which it is held.
          signs: signup.suspect ?? [],
          // The webhooks that have taken it.
          webhooks: passed.flatMap(({ ids, ...one }) => (ids.includes(signup.id) ? one : [])),
        })
      }
      await nextTurn()
    }
  }

  async *beside(site: string, address: string): AsyncGenerator<Kept> {
    const { reader, confirmation } = this.#options.journals.get(site) ?? {}
    if (!reader || !confirmation) return
    for await (const { pending, messages, block, next } of besideOf(confirmation, address)) {
      this.#options.stop.throwIfAborted()
      for (const { signup, until } of pending) {
        const facts = { isSuspect: signup.suspect !== undefined, until: isoOrNull(until) }
        yield* this.#told({ kind: 'pending', site }, signup, facts)
      }
      for (const { kind: mail, madeAt, sentAt, tries } of messages) {
        yield { kind: 'mail', site, mail, madeAt: iso(madeAt), sentAt: isoOrNull(sentAt), tries }
      }
      if (!block || next) continue
      const { why, at, until } = block
      yield { kind: 'noMail', site, why, at: iso(at), until: isoOrNull(until) }
    }
    const upTo = await expiredUpTo(reader)
    if (upTo !== null) yield { kind: 'expired', site, expiredUpTo: upTo }
  }

  /** What the person sent. The wording stands before it, and not among the other metadata. */
  *#told(kept: Kept, { metadata, ...signup }: Signup, facts: object): Generator<Kept> {
    const { id, receivedAt, sheetTab, source, name, tags, fields } = signup
    const { consent, ...others } = parseObject(metadata) ?? {}
    const isWording = typeof consent === 'string'
    const [wording, isNew] = isWording ? this.#wordingOf(consent) : [null, false]
    if (isNew) yield { kind: 'wording', wording, text: consent }
    yield {
      ...kept,
      ...{ id, receivedAt: iso(receivedAt), sheetTab, source, name, tags },
      metadata: isWording || consent === undefined ? others : { consent, ...others },
      ...{ fields, wording, ...facts },
    }
  }

  #wordingOf(text: string): readonly [number: number, isNew: boolean] {
    const digest = hash('sha256', text)
    const known = this.#wordings.get(digest)
    if (known !== undefined) return [known, false]
    if (this.#wordings.size < wordingsMax) this.#wordings.set(digest, this.#wordingsTold + 1)
    return [++this.#wordingsTold, true]
  }
}

export const severalEndSo = 'The ids of several people end so. Give the whole address.'
export const nothingKept = 'Nothing is kept about this address.'
export const unsearched =
  'Not looked at: the spreadsheets themselves, exports, imports and backups, the mail server and its logs.'

const headings: Readonly<Record<Kept['kind'], string>> = {
  wording: 'Text that was agreed to',
  signup: 'Signup',
  pending: 'Pending',
  mail: 'Mail',
  noMail: 'No mail goes to this address, or no welcome to who has left',
  expired: 'Erased by RETENTION_DAYS',
}

/** When a pending signup ends whose mail waits. @param days `CONFIRMATION_DAYS` */
export function endAfterMail(days: number): string {
  return `${counted(days, 'day')} after its mail was sent`
}

/**
 * The same for people: a heading, and everything that is not empty, under the names that the JSON has.
 *
 * @param days `CONFIRMATION_DAYS`
 */
export function entryOf({ kind, webhooks, ...facts }: Kept, days: number) {
  const takenBy = (webhooks ?? []) as { readonly webhook: number; readonly host: string }[]
  const until = kind === 'pending' && { until: facts['until'] ?? endAfterMail(days) }
  const all = {
    ...facts,
    ...until,
    webhooks: takenBy.map(({ webhook, host }) => `${webhook} (${host})`),
  }
  const texts = Object.entries(all).map(([name, value]) => [name, textOf(value)] as const)
  const empty = ['null', '{}', '', 'false']
  return { heading: headings[kind], facts: texts.filter(([, text]) => !empty.includes(text)) }
}

function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.join(', ')
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** Lets mails go again to an address that declined them or left. Returns sentences about it. */
export async function allowMails(
  address: string,
  journals: ReadonlyMap<string, Pick<Journal, 'confirmation'>>,
) {
  const allowed: string[] = []
  for (const [site, { confirmation }] of journals) {
    if (await confirmation.allow(address)) allowed.push(site)
  }
  const words =
    allowed.length === 0
      ? 'Nothing kept mails from this address.'
      : `Mails may go to this address again, of the site ${listOf(allowed)}.`
  return { allowed, words }
}
