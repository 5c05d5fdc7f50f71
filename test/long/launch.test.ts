import { join } from 'node:path'
import { expect, test } from 'vitest'

import { percentile } from '../../bench/percentile.ts'
import { seededRandom } from '../../emulators/google-sheets/faults.ts'
import { makeSignup } from '../../harness/make-signup.ts'
import { openSqliteJournal } from '../../harness/sqlite-journal.ts'
import { tempFolder } from '../../harness/temp-folder.ts'
import type { Journal } from '../../src/journal/contracts/journal.ts'
import { confirming, noon } from '../journal/contracts/outbox-contract.ts'

const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)
const secondMs = 1000
const hourMs = 60 * 60 * secondMs

const real = 5_000
/** So many of them come from addresses that they share, as in offices and mobile networks. */
const [sharing, toAnAddress] = [500, 20]
const falseOnes = 50_000
const falseClients = 20
/** What a mail server takes in a second: five mails at once, each in half a second. */
const perSecond = 10

type Kind = 'alone' | 'sharing' | 'false'

interface Launched {
  readonly kind: Kind
  readonly email: string
  readonly share: string
  readonly at: number
}

interface Late {
  readonly kind: Kind
  readonly ms: number
}

/** Everybody who signs up in the hour, in order. */
function crowd(random: () => number, withFalse: boolean): readonly Launched[] {
  const at = () => noon + Math.floor(random() * hourMs)
  const reals = Array.from({ length: real }, (_, nth): Launched => {
    const isSharing = nth < sharing
    const share = isSharing ? `shared ${Math.floor(nth / toAnAddress)}` : `alone ${nth}`
    return {
      ...{ kind: isSharing ? 'sharing' : 'alone', email: `real-${nth}@example.com` },
      ...{ share, at: at() },
    }
  })
  const others = Array.from({ length: withFalse ? falseOnes : 0 }, (_, nth): Launched => {
    const share = `false ${nth % falseClients}`
    return { kind: 'false', email: `false-${nth}@example.com`, share, at: at() }
  })
  return [...reals, ...others].toSorted((a, b) => a.at - b.at)
}

/** Lets all of them sign up, and sends until nothing waits. Resolves with how late each mail was. */
async function launch(
  journal: Journal,
  people: readonly Launched[],
  perHour: number,
): Promise<ReadonlyMap<string, Late>> {
  const known = new Map(people.map((one) => [one.email, one] as const))
  const late = new Map<string, Late>()
  let asked = 0
  let now = noon
  while (late.size < people.length) {
    const asking: Promise<unknown>[] = []
    for (let one = people[asked]; one && one.at <= now; one = people[(asked += 1)]) {
      const signup = makeSignup({ email: one.email, receivedAt: one.at })
      const addressing = { share: one.share, language: 'en' }
      asking.push(journal.intake.ask([signup], { addressing }))
    }
    await Promise.all(asking)
    const order = { kinds: ['confirm'], by: 'me', now, max: perSecond, perHour } as const
    const { messages, nextAt = Infinity } = await journal.outbox.claim(order)
    const settling = messages.map(async ({ number, email }) => {
      const { kind, at } = known.get(email) ?? expect.fail('a mail to nobody')
      expect(late.has(email), 'a second mail').toBe(false)
      late.set(email, { kind, ms: now - at })
      await journal.outbox.settle(number, { kind: 'sent', at: now })
    })
    await Promise.all(settling)
    const next = Math.min(people[asked]?.at ?? Infinity, nextAt)
    if (next === Infinity && messages.length === 0) break
    now = Math.max(now + secondMs, next === Infinity ? 0 : next)
  }
  return late
}

function inTime(ms: number): string {
  if (ms < 100 * secondMs) return `${Math.round(ms / secondMs)} s`
  return ms < 2 * hourMs ? `${Math.round(ms / 60_000)} min` : `${(ms / hourMs).toFixed(1)} h`
}

const kinds = [
  ['alone', 'real, each from an address of their own'],
  ['sharing', `real, ${toAnAddress} from an address`],
  ['false', `false, ${falseOnes / falseClients} from an address`],
] as const

/** How late the mails of each kind were, as rows of a table. */
function rowsOf(perHour: number, late: ReadonlyMap<string, Late>): readonly string[] {
  return kinds.flatMap(([kind, words]) => {
    const all = [...late.values()].filter((one) => one.kind === kind).map(({ ms }) => ms)
    if (all.length === 0) return []
    const figures = [percentile(all, 0.5), percentile(all, 0.99), Math.max(...all)].map(inTime)
    const cells = [String(perHour), words, String(all.length), ...figures]
    return [`| ${cells.join(' | ')} |`]
  })
}

test.each([500, 6_000])(
  'in a launch of an hour at %i mails an hour, 50,000 false signups from twenty clients keep no mail from anybody, and real people wait for at most an hour longer',
  async (perHour) => {
    console.log(`The seed of the launch is ${seed}. SEED=${seed} lets the same people come again.`)
    const run = async (withFalse: boolean) => {
      await using folder = await tempFolder()
      await using journal = openSqliteJournal(join(folder.path, 'journal.db'), confirming)
      const people = crowd(seededRandom(seed), withFalse)
      const late = await launch(journal, people, perHour)
      expect(people.filter(({ email }) => !late.has(email))).toEqual([])
      return late
    }
    const [calm, attacked] = [await run(false), await run(true)]
    const head = ['mails an hour', 'who', 'mails', 'median', 'p99', 'longest']
    console.log(
      [
        `| ${head.join(' | ')} |`,
        `| ${head.map(() => '---').join(' | ')} |`,
        ...rowsOf(perHour, calm).map((row) => row.replace('real,', 'without false ones: real,')),
        ...rowsOf(perHour, attacked),
      ].join('\n'),
    )
    const longest = (late: ReadonlyMap<string, Late>) =>
      Math.max(...[...late.values()].flatMap(({ kind, ms }) => (kind === 'alone' ? [ms] : [])))
    // Of each turn, false ones get twenty mails. Once they have used up the first hour's, all wait for the next.
    expect(longest(attacked)).toBeLessThan(1.25 * longest(calm) + hourMs)
  },
)
