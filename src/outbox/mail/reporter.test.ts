import { expect, test } from 'vitest'

import { makeSignup } from '../../../harness/make-signup.ts'
import { ManualClock } from '../../../harness/manual-clock.ts'
import { onlySiteOf } from '../../../harness/only-site.ts'
import { JournalUnavailable } from '../../journal/contracts/errors.ts'
import type { Message } from '../../journal/contracts/outbox.ts'
import { openSqliteSites } from '../../journal/sqlite/sqlite-journal.ts'
import { accentColors } from '../../pages/accent.ts'
import type { Signup } from '../../signup/signup.ts'
import { reportMail } from './report.ts'
import { type ReporterOptions, startReporter } from './reporter.ts'
import { day, hour } from '../../platform/clock.ts'

/** A site whose owner gets reports. */
function createWorld(when: ReporterOptions['when'] = 'hourly') {
  const clock = new ManualClock()
  const policy = { confirmation: { waitMs: 7 * day }, holdsSuspects: true }
  const sites = openSqliteSites(':memory:', new Map([['launch', policy]]))
  const journal = onlySiteOf(sites)
  const errors: unknown[] = []
  const count = async () => {
    while (await sites.countNext());
  }
  const world = {
    ...{ clock, journal, errors, count },
    /** What fails, as after a crash just then. */
    broken: new Set<'add' | 'note'>(),
    start: () =>
      startReporter({
        ...{ site: 'launch', when, location: 'https://sheet.example', clock, time: clock },
        ...{ delivers: () => true },
        events: { crashed: (error) => errors.push(error) },
        journal: {
          reader: {
            // No signup is read for a report.
            figures: () => journal.reader.figures(),
            shares: () => journal.reader.shares(),
            beside: () => journal.reader.beside(),
          },
          outbox: {
            add: async (message) => {
              if (world.broken.has('add')) throw new JournalUnavailable('killed')
              await journal.outbox.add(message)
            },
          },
          delivery: {
            fact: (name) => journal.delivery.fact(name),
            noteFact: async (name, value) => {
              if (world.broken.has('note')) throw new JournalUnavailable('killed')
              await journal.delivery.noteFact(name, value)
            },
          },
        },
      }),
    append: async (...given: Partial<Signup>[]) => {
      await journal.intake.append(given.map((it) => makeSignup({ receivedAt: clock.now(), ...it })))
      await count()
    },
    /** The reports so far, each as its text. */
    async reports(): Promise<string[]> {
      const order = {
        kinds: ['report'],
        by: crypto.randomUUID(),
        now: clock.now(),
        max: 100,
      } as const
      const { messages } = await journal.outbox.claim(order)
      return messages.map((it) => mailOf(it).text)
    },
    [Symbol.asyncDispose]: () => journal[Symbol.asyncDispose](),
  }
  return world
}

function mailOf(message: Message) {
  const colors = {
    light: accentColors(undefined, 'light'),
    dark: accentColors(undefined, 'dark'),
  }
  return reportMail(message, {
    owner: 'owner@example.com',
    publicUrl: 'https://signup.example',
    colors,
  })
}

/** The count that a report has of this. */
function countIn(report: string | undefined, what: string): number {
  return Number(new RegExp(`^ *(\\d+)  ${what}$`, 'm').exec(report ?? '')?.[1])
}

test('the owner is told once an hour what is new, by tab and source, and nothing when nothing is', async () => {
  await using world = createWorld()
  await world.append({ email: 'old@example.com' })
  await using _ = world.start()
  await world.clock.run(3 * hour)
  expect(await world.reports()).toEqual([])
  await world.append(
    { email: 'ada@example.com', sheetTab: 'Letters', source: 'form' },
    { email: 'bob@example.com', sheetTab: 'Letters', source: 'qr' },
    { email: 'cy@example.com', sheetTab: 'Beta', source: 'form' },
  )
  await world.clock.run(3 * hour)
  const [report, ...others] = await world.reports()
  expect(others).toEqual([])
  const counts = ['Accepted', 'Letters', 'Beta', 'form', 'qr'].map((it) => countIn(report, it))
  expect(counts).toEqual([3, 2, 1, 2, 1])
  expect(report).toContain('Site launch, 2026-11-20 13:00 to 2026-11-20 14:00 (UTC)')
  expect(report).toContain('https://sheet.example')
  expect(world.errors).toEqual([])
})

test('reports go on when the clock is set back by days', async () => {
  await using world = createWorld()
  await using _ = world.start()
  await world.clock.run(hour)
  await world.append({ email: 'ada@example.com' })
  await world.clock.run(hour)
  expect(await world.reports()).toHaveLength(1)
  world.clock.jump(-10 * day)
  await world.append({ email: 'bob@example.com' })
  await world.clock.run(2 * hour)
  expect(await world.reports()).toHaveLength(2)
})

test('a daily report comes once a day', async () => {
  await using world = createWorld('daily')
  await using _ = world.start()
  for (let at = 0; at < 8; at += 1) {
    await world.clock.run(6 * hour)
    await world.append({ email: `a${at}@example.com` })
  }
  expect(await world.reports()).toHaveLength(2)
})

test('pending, confirmed and quarantined signups and who wants no mail are told', async () => {
  await using world = createWorld()
  await using _ = world.start()
  await world.clock.run(hour)
  const addressing = { share: 'a', language: 'en' }
  const receivedAt = world.clock.now()
  const asked = ['ada', 'bob', 'cy'].map((name) =>
    makeSignup({ email: `${name}@example.com`, receivedAt }),
  )
  for (const it of asked) await world.journal.intake.ask([it], { addressing })
  const claim = { kinds: ['confirm'], by: 'me', now: receivedAt, max: 9 } as const
  const { messages } = await world.journal.outbox.claim(claim)
  const [one, other] = messages.map(({ id }) => id)
  await world.journal.confirmation.confirm(one ?? '', receivedAt)
  await world.journal.confirmation.decline(other ?? '', receivedAt)
  const suspect = ['hidden-field'] as const
  await world.append({ email: 'spam@example.com', suspect })
  const odd = makeSignup({ email: 'odd@example.com', receivedAt, suspect })
  await world.journal.intake.ask([odd], { addressing })
  await world.count()
  await world.clock.run(hour)
  const [report] = await world.reports()
  const of = (what: string) => countIn(report, what)
  expect([of('Accepted'), of('Of these confirmed'), of('Pending now')]).toEqual([1, 1, 1])
  expect([of('Newly held'), of('Held now')]).toEqual([2, 2])
  expect([of('Want no mail'), of('Of these new')]).toEqual([1, 1])
})

test.each(['add', 'note'] as const)(
  'a crash at the step %s neither loses a signup from the reports nor tells it twice',
  async (step) => {
    await using world = createWorld()
    const first = world.start()
    await world.clock.run(hour)
    await world.append({ email: 'ada@example.com' })
    world.broken.add(step)
    await world.clock.run(hour)
    await first[Symbol.asyncDispose]()
    world.broken.clear()
    await world.append({ email: 'bob@example.com' })
    await using _ = world.start()
    await world.clock.run(3 * hour)
    const reports = await world.reports()
    const told = reports.reduce((sum, report) => sum + countIn(report, 'Accepted'), 0)
    expect(told).toBe(2)
  },
)

test('no address is in a report, and its size has a limit', async () => {
  await using world = createWorld()
  await using _ = world.start()
  await world.clock.run(hour)
  await world.append({ email: 'ada@example.com', source: 'ada@example.com' })
  for (let at = 0; at < 150; at += 1) {
    await world.append({ email: `a${at}@example.com`, source: `source ${at}` })
  }
  await world.clock.run(hour)
  const [report] = await world.reports()
  expect(report).not.toContain('@')
  expect(report?.match(/ source \d+$/gm)?.length).toBeLessThanOrEqual(100)
  expect(countIn(report, 'other')).toBeGreaterThanOrEqual(51)
})

test('a report is a mail to the owner, and its HTML has no markup of a source', async () => {
  const report = {
    ...{ site: 'launch', location: 'x', from: 0, to: hour, accepted: 1, confirmed: 0 },
    ...{ quarantined: 0, held: 0, pending: 0, blocked: 0, newBlocked: 0, tabs: [['', 1]] },
    sources: [
      ['<b>bold</b>', 1],
      ['', 1],
    ],
  }
  const message = { id: 'r1', kind: 'report', body: JSON.stringify(report) } as Message
  const mail = mailOf(message)
  expect(mail).toMatchObject({
    to: 'owner@example.com',
    subject: 'Rollcall, site launch: 1 new signup',
    messageId: 'r1@signup.example',
    headers: {},
  })
  expect(mail.html).toContain('&lt;b&gt;bold')
  expect(mail.html).not.toContain('<b>')
  expect(mail.text).toContain('(the default tab)')
  expect(mail.text).toContain('(none)')
})
