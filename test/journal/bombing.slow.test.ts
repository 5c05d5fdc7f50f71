// @module-tag slow
import { join } from 'node:path'
import { expect, test } from 'vitest'

import { seededRandom } from '../../emulators/google-sheets/faults.ts'
import { makeSignup } from '../../harness/make-signup.ts'
import { tempFolder } from '../../harness/temp-folder.ts'
import type { Journal, OpenJournal } from '../../src/journal/contracts/journal.ts'
import { openSqliteSites } from '../../src/journal/sqlite/sqlite-journal.ts'
import { confirming, noon } from './contracts/outbox-contract.ts'
import { sharePostgresWorlds } from './postgres-world.ts'
import type { SitesWorld } from './second-site.ts'

const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)
const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs

const signups = 10_000
const clients = 2_000
const hours = 36
/** Three mails a day of each would be more than the six that a mailbox gets in all. */
const sites = ['first', 'second', 'third'] as const

/** A mail that was handed over. */
interface Handed {
  readonly mailbox: string
  readonly site: string
  readonly at: number
}

/** One person under attack, and forty others of the same domain. */
const victim = 'adalovelace'
const others = Array.from({ length: 40 }, (_, at) => `person${at}of40`)

/** One of the ways to write the address of a mailbox at Gmail, and whose it is. */
function spelling(random: () => number) {
  const pick = <T>(from: readonly T[]) => from[Math.floor(random() * from.length)] as T
  const mailbox = random() < 0.5 ? victim : pick(others)
  const letters = Array.from(mailbox, (letter, at) => {
    const dot = at > 0 && random() < 0.2 ? '.' : ''
    return dot + (random() < 0.3 ? letter.toUpperCase() : letter)
  })
  const tag = random() < 0.6 ? `+${Math.floor(random() * 5_000).toString(36)}` : ''
  const domain = pick(['gmail.com', 'Gmail.com', 'googlemail.com', 'GOOGLEMAIL.COM'])
  return { mailbox, email: `${letters.join('')}${tag}@${domain}` }
}

async function onSqlite(): Promise<SitesWorld> {
  const folder = await tempFolder()
  return {
    openSites: async (policies) => openSqliteSites(join(folder.path, 'journal.db'), policies),
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  }
}

test.each([
  ['SQLite', onSqlite],
  ['PostgreSQL', sharePostgresWorlds()],
] as const)(
  'no mailbox gets more mails than the limits say by 10,000 signups in all its spellings, over two instances (%s)',
  async (engine, createWorld) => {
    console.log(`The seed of the bombing is ${seed}. SEED=${seed} writes the same addresses again.`)
    await using world = await createWorld()
    const policies = new Map(sites.map((site) => [site, confirming] as const))
    await using one = await world.openSites(policies)
    await using other = await world.openSites(policies)
    const { handed, mailboxes, tries } = await bomb([one, other], seededRandom(seed))

    const most = (all: readonly Handed[], withinMs: number) => {
      const times = all.map(({ at }) => at).toSorted((a, b) => a - b)
      const counts = times.map((from) => times.filter((at) => at >= from && at < from + withinMs))
      return Math.max(0, ...counts.map(({ length }) => length))
    }
    const figures = [...Map.groupBy(handed, ({ mailbox }) => mailbox)].map(([mailbox, all]) => ({
      mailbox,
      ofPause: most(all, 15 * minuteMs),
      ofDay: most(all, dayMs),
      ofSites: sites.map((site) =>
        most(
          all.filter((mail) => mail.site === site),
          dayMs,
        ),
      ),
    }))
    const ofVictim = figures.find(({ mailbox }) => mailbox === victim)
    console.log(
      `${engine}: ${signups} signups from ${clients} clients for ${mailboxes.size} mailboxes in ${hours} hours, ` +
        `${handed.length} mails in ${tries} tries; most to one mailbox: ` +
        `${Math.max(...figures.map(({ ofPause }) => ofPause))} in 15 minutes, ` +
        `${Math.max(...figures.flatMap(({ ofSites }) => ofSites))} a day by a site, ` +
        `${Math.max(...figures.map(({ ofDay }) => ofDay))} a day; ` +
        `to the one under attack: ${handed.filter(({ mailbox }) => mailbox === victim).length} in all`,
    )
    expect(figures.filter(({ ofPause }) => ofPause > 1)).toEqual([])
    expect(figures.filter(({ ofSites }) => ofSites.some((count) => count > 3))).toEqual([])
    expect(figures.filter(({ ofDay }) => ofDay > 6)).toEqual([])
    // Everybody gets some: the attack does not keep people from getting theirs.
    expect(new Set(handed.map(({ mailbox }) => mailbox))).toEqual(mailboxes)
    expect(ofVictim).toMatchObject({ ofPause: 1, ofDay: 6 })
  },
)

/** Lets people sign up for a day and a half, while two instances send what they may. */
async function bomb(instances: readonly OpenJournal[], random: () => number) {
  const journalOf = (instance: number, site: string): Journal =>
    instances[instance]?.sites.get(site) ?? expect.fail('no such site')
  const times = Array.from({ length: signups }, () => noon + random() * hours * hourMs)
  const waiting = times.toSorted((a, b) => a - b).map(Math.floor)
  const mailboxes = new Set<string>()
  const handed: Handed[] = []
  /** Of each message, whose it is: spellings are told apart by the journal. */
  const owners = new Map<string, string>()
  let tries = 0
  let asked = 0

  const sendAt = async (instance: number, site: string, now: number) => {
    const { outbox } = journalOf(instance, site)
    const order = { kinds: ['confirm'], by: `${instance}`, now, max: 5, perHour: 500 } as const
    const { messages } = await outbox.claim(order)
    for (const { number, email } of messages) {
      tries += 1
      const dice = random()
      if (dice < 0.1) {
        const nextAt = now + Math.floor(random() * 40 * minuteMs)
        const outcome = { kind: 'later', at: now, nextAt, reason: 'it is busy' } as const
        await outbox.settle(number, outcome)
      } else if (dice < 0.15) {
        await outbox.settle(number, { kind: 'untried', nextAt: now + minuteMs })
      } else {
        handed.push({ mailbox: owners.get(email) ?? email, site, at: now })
        await outbox.settle(number, { kind: 'sent', at: now })
      }
    }
  }

  for (let now = noon; now < noon + hours * hourMs; now += minuteMs) {
    const asking: Promise<unknown>[] = []
    for (; (waiting[asked] ?? Infinity) <= now; asked += 1) {
      const { mailbox, email } = spelling(random)
      mailboxes.add(mailbox)
      owners.set(email, mailbox)
      const share = `client ${Math.floor(random() * clients)}`
      const signup = makeSignup({ email, receivedAt: waiting[asked] ?? now })
      const { intake } = journalOf(asked % 2, sites[Math.floor(random() * sites.length)] ?? 'first')
      asking.push(intake.ask([signup], { addressing: { share, language: 'en' } }))
    }
    await Promise.all(asking)
    // Each site is delivered by another instance, and in the next hour by the other one.
    const turn = Math.floor(now / hourMs) % 2
    await Promise.all(sites.map((site, at) => sendAt((turn + at) % 2, site, now)))
  }
  expect(asked).toBeGreaterThan(0.99 * signups)
  return { handed, mailboxes, tries }
}
