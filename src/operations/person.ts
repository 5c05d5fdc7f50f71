import type { PendingRecord } from '../journal/contracts/confirmation.ts'
import type { Journal } from '../journal/contracts/journal.ts'
import { iso, isoOrNull } from '../platform/clock.ts'
import { parseObject } from '../signup/json.ts'
import type { Millis, Signup } from '../signup/signup.ts'
import { pagesOf } from './pages-of.ts'
import { expiredUpTo } from './retention.ts'

/** All that is kept about somebody. Times are ISO 8601 in UTC. */
export type Person = Awaited<ReturnType<typeof readPerson>>

interface PersonOptions {
  readonly journals: ReadonlyMap<string, Pick<Journal, 'reader' | 'intake' | 'confirmation'>>
  readonly stop: AbortSignal
  /** Told how many signups were searched. */
  readonly searched: (done: number) => void
}

const readAtOnce = 1_000

/** Reads what the journal keeps about the person with this address. Letter case does not count. */
export async function readPerson(address: string, { journals, stop, searched }: PersonOptions) {
  const wordings = new Wordings()
  const sites = []
  let done = 0
  for (const [site, { reader, intake, confirmation }] of journals) {
    const signups = []
    const after = (position: number) => reader.page(position, readAtOnce)
    for await (const page of pagesOf(readAtOnce, after)) {
      stop.throwIfAborted()
      for (const { signup } of page) {
        if (signup.email.toLowerCase() !== address.toLowerCase()) continue
        const status = await intake.find(signup.id)
        signups.push({
          state: stateOf(signup, status?.writtenAt),
          ...cellsOf(signup, wordings),
          confirmedAt: isoOrNull(signup.confirmedAt),
          writtenAt: isoOrNull(status?.writtenAt),
          // The signs of spam for which it is in quarantine.
          signs: signup.suspect ?? [],
        })
      }
      searched((done += page.length))
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
