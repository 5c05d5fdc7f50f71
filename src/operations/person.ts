import { setImmediate as nextTurn } from 'node:timers/promises'
import type { PendingRecord } from '../journal/contracts/confirmation.ts'
import type { Journal } from '../journal/contracts/journal.ts'
import { iso, isoOrNull } from '../platform/clock.ts'
import { parseObject } from '../signup/json.ts'
import type { Millis, Signup } from '../signup/signup.ts'
import { expiredUpTo } from './retention.ts'
import type { Endpoint } from './webhooks.ts'
import { listOf } from './words.ts'

/** All that is kept about somebody. Times are ISO 8601 in UTC. */
export type Person = Awaited<ReturnType<typeof readPerson>>

interface PersonOptions {
  readonly journals: ReadonlyMap<string, Pick<Journal, 'reader' | 'confirmation' | 'webhooks'>>
  /** The webhooks of each site in the settings. */
  readonly endpoints: ReadonlyMap<string, readonly Endpoint[]>
  readonly stop: AbortSignal
  /** Told for each site, again and again, up to which of all signups it was searched. */
  readonly searched: (done: number) => void
}

/** Reads what the journal keeps about the person with this address. Letter case does not count. */
export async function readPerson(address: string, options: PersonOptions) {
  const { journals, endpoints, stop, searched } = options
  const wordings = new Wordings()
  const sites = []
  for (const [site, { reader, confirmation, webhooks }] of journals) {
    const signups = []
    for (let after: number | undefined = 0; after !== undefined;) {
      stop.throwIfAborted()
      const { signups: found, next, upto } = await reader.ofAddress(address, after)
      const ids = found.map(({ signup }) => signup.id)
      // Most slices have nothing of the person.
      const asked = ids.length === 0 ? [] : (endpoints.get(site) ?? [])
      const passed = await Promise.all(
        asked.map(async ({ number, host, key }) => {
          return { webhook: number, host, ids: await webhooks.passed(key, ids) }
        }),
      )
      for (const { signup, writtenAt } of found) {
        signups.push({
          state: stateOf(signup, writtenAt),
          ...cellsOf(signup, wordings),
          confirmedAt: isoOrNull(signup.confirmedAt),
          writtenAt: isoOrNull(writtenAt),
          // The signs of spam for which it is in quarantine.
          signs: signup.suspect ?? [],
          // The webhooks that have taken it.
          webhooks: passed.flatMap(({ ids, ...one }) => (ids.includes(signup.id) ? one : [])),
        })
      }
      searched(upto)
      after = next
      await nextTurn()
    }
    const { pending, messages, block } = await confirmation.ofPerson(address)
    sites.push({
      site,
      signups,
      pending: pending.map((one) => pendingOf(one, wordings)),
      mails: messages.map(({ kind, madeAt, sentAt, tries }) => {
        return { kind, madeAt: iso(madeAt), sentAt: isoOrNull(sentAt), tries }
      }),
      // Why the site sends the address nothing, and until when: null for ever.
      block: block ? { why: block.why, at: iso(block.at), until: isoOrNull(block.until) } : null,
      // Up to when RETENTION_DAYS has erased written signups, so that nobody knows whose they were.
      expiredUpTo: await expiredUpTo(reader),
    })
  }
  // What was agreed to, each text once: `wording` of a signup is its place here, from 0.
  return { address, wordings: wordings.texts, sites }
}

function stateOf({ suspect }: Signup, writtenAt: Millis | undefined) {
  if (suspect) return 'in quarantine'
  return writtenAt === undefined ? 'accepted' : 'written'
}

function pendingOf({ state, signup, until }: PendingRecord, wordings: Wordings) {
  const isSuspect = signup.suspect !== undefined
  return { state, ...cellsOf(signup, wordings), isSuspect, until: isoOrNull(until) }
}

/** What the person sent. The wording stands beside the other metadata. */
function cellsOf({ metadata, ...signup }: Signup, wordings: Wordings) {
  const { id, receivedAt, sheetTab, source, name, tags, fields } = signup
  const whole = parseObject(metadata) ?? {}
  const { consent, ...others } = whole
  const isWording = typeof consent === 'string'
  return {
    ...{ id, receivedAt: iso(receivedAt), sheetTab, source, name, tags },
    metadata: isWording ? others : whole,
    fields,
    wording: isWording ? wordings.placeOf(consent) : null,
  }
}

class Wordings {
  readonly texts: string[] = []

  placeOf(text: string): number {
    const known = this.texts.indexOf(text)
    return known === -1 ? this.texts.push(text) - 1 : known
  }
}

export const nothingKept = 'Nothing is kept about this address.'
export const unsearched =
  'Not looked at: the spreadsheets themselves, exports, imports and backups, the mail server and its logs.'

/** What a person is told: a heading, and everything that is not empty, under the names that the JSON has. */
export interface Entry {
  readonly heading: string
  readonly facts: readonly (readonly [name: string, text: string])[]
}

/** The same for people. */
export function entriesOf({ sites }: Person): readonly Entry[] {
  return sites.flatMap(({ site, signups, pending, mails, block, expiredUpTo: upTo }) => [
    ...signups.map(({ webhooks, ...one }) => {
      const takenBy = webhooks.map(({ webhook, host }) => `${webhook} (${host})`)
      return entry('Signup', { site, ...one, webhooks: takenBy })
    }),
    ...pending.map((one) => entry('Beside the list', { site, ...one })),
    ...mails.map((one) => entry('Mail', { site, ...one })),
    ...(block ? [entry('No mail goes to this address', { site, ...block })] : []),
    ...(upTo === null ? [] : [entry('Erased by RETENTION_DAYS', { site, expiredUpTo: upTo })]),
  ])
}

function entry(heading: string, facts: object): Entry {
  const texts = Object.entries(facts).map(([name, value]: [string, unknown]) => {
    return [name, textOf(value)] as const
  })
  const empty = ['null', '{}', '', 'false']
  return { heading, facts: texts.filter(([, text]) => !empty.includes(text)) }
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
