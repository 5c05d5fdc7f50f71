import { expect } from 'vitest'

import { makeSignup } from '../../../harness/make-signup.ts'
import type { Journal, JournalPolicy } from '../../../src/journal/contracts/journal.ts'
import type { ClaimOrder, Message } from '../../../src/journal/contracts/outbox.ts'
import type { Signup } from '../../../src/signup/signup.ts'
import { type ContractTest, inTwo, underPolicy } from './contract.ts'

export const noon = Date.UTC(2026, 10, 20, 12)
const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs
export const ada = 'ada@example.com'
export const confirming = { confirmation: { waitMs: 7 * dayMs } } satisfies Partial<JournalPolicy>

type Asking = Pick<Journal, 'intake'>

export function ask({ intake }: Asking, given: Partial<Signup> = {}, share = 'share', at = noon) {
  const signup = makeSignup({ email: ada, sheetTab: 'Letters', receivedAt: at, ...given })
  return intake.ask([signup], { addressing: { share, language: 'de' } })
}

export async function claim(
  { outbox }: Pick<Journal, 'outbox'>,
  now = noon,
  order: Partial<ClaimOrder> = {},
): Promise<readonly Message[]> {
  const kinds = ['confirm', 'welcome', 'report'] as const
  return (await outbox.claim({ kinds, by: 'me', now, max: 100, ...order })).messages
}

/** Sends what is due at this time, but what is unwanted. Returns to whom. */
export async function send(
  journal: Pick<Journal, 'outbox'>,
  now = noon,
  order: Partial<ClaimOrder> = {},
) {
  const messages = await claim(journal, now, order)
  for (const { number, isUnwanted } of messages)
    await journal.outbox.settle(number, { kind: isUnwanted ? 'dropped' : 'sent', at: now })
  return messages.filter(({ isUnwanted }) => !isUnwanted).map(({ email }) => email)
}

/** A message is sent once, and its state survives whoever sends it. */
export const sentMessages: readonly ContractTest[] = [
  {
    title: 'a mail has the address, the language and an id of its own, and goes once',
    run: underPolicy(confirming, async (journal) => {
      await ask(journal)
      const [mail, ...others] = await claim(journal)
      expect(others).toEqual([])
      expect(mail).toMatchObject({
        kind: 'confirm',
        email: ada,
        language: 'de',
        tries: 0,
        madeAt: noon,
      })
      expect(mail?.id).toMatch(/^[\w-]{22}$/)
      expect(await claim(journal)).toEqual([])
      await journal.outbox.settle(mail?.number ?? 0, { kind: 'sent', at: noon })
      expect(await claim(journal, noon + dayMs)).toEqual([])
      expect((await journal.outbox.figures(['confirm'])).lastSent).toBe(noon)
    }),
  },

  {
    title: 'a claimed message stays with its sender, and is free for the next holder of the lease',
    run: inTwo(async (one, other) => {
      await ask(one)
      const [mail] = await claim(one, noon, { by: 'one' })
      expect(await claim(one, noon, { by: 'one' })).toEqual([])
      // The first try may have been made.
      expect(await claim(other, noon, { by: 'two' })).toEqual([{ ...mail, tries: 1 }])
    }, confirming),
  },

  {
    title: 'a message that failed waits for its next try, with the same id and one try more',
    run: underPolicy(confirming, async (journal) => {
      await ask(journal)
      const [mail] = await claim(journal)
      const later = {
        kind: 'later',
        at: noon,
        nextAt: noon + hourMs,
        reason: 'it is busy',
      } as const
      await journal.outbox.settle(mail?.number ?? 0, later)
      expect(await claim(journal, noon + hourMs - 1)).toEqual([])
      const failed = { at: noon, tries: 1, reason: 'it is busy', isFinal: false }
      expect(await journal.outbox.figures(['confirm'])).toMatchObject({ waiting: 1, failed })
      const again = { ...mail, tries: 1, linkUntil: (mail?.linkUntil ?? 0) + hourMs }
      expect(await claim(journal, noon + hourMs)).toEqual([again])
      await journal.outbox.settle(mail?.number ?? 0, { kind: 'sent', at: noon + hourMs })
      const { failed: none, waiting } = await journal.outbox.figures(['confirm'])
      expect([none, waiting]).toEqual([undefined, 0])
    }),
  },

  {
    title: 'a clock that was set back makes no message wait for longer than a day',
    run: underPolicy(confirming, async (journal) => {
      await ask(journal)
      const [mail] = await claim(journal)
      const nextAt = noon + hourMs
      await journal.outbox.settle(mail?.number ?? 0, { kind: 'untried', nextAt })
      expect(await claim(journal, noon - 2 * dayMs)).toHaveLength(1)
    }),
  },

  {
    title: 'a message that was given up is not tried again, and one of a forgotten person neither',
    run: underPolicy(confirming, async (journal) => {
      for (const email of [ada, 'bob@example.com', 'eve@example.com']) await ask(journal, { email })
      const mails = await claim(journal, noon, { max: 2 })
      await journal.outbox.settle(mails[0]?.number ?? 0, {
        kind: 'failed',
        at: noon,
        reason: 'no such box',
      })
      for (const { email } of mails.slice(1)) await journal.erasure.forget(email)
      await journal.erasure.forget('eve@example.com')
      await journal.outbox.settle(mails[1]?.number ?? 0, {
        ...{ kind: 'later', at: noon, nextAt: noon, reason: 'it is busy' },
      })
      expect(await claim(journal, noon + dayMs, { by: 'other' })).toEqual([])
    }),
  },

  {
    title:
      'a report with a known id is not added again, and the oldest of more than twenty give way',
    run: underPolicy({}, async ({ outbox }) => {
      const report = (id: string) =>
        ({ id, kind: 'report', body: `{"id":"${id}"}`, at: noon }) as const
      for (let n = 0; n < 25; n++) await outbox.add(report(`n${n}`))
      await outbox.add(report('n24'))
      const order = { kinds: ['report'], by: 'me', now: noon, max: 100 } as const
      const { messages } = await outbox.claim(order)
      expect(messages.map(({ id }) => id)).toEqual(
        Array.from({ length: 20 }, (_, n) => `n${n + 5}`),
      )
      expect(messages[0]).toMatchObject({ kind: 'report', email: '', body: '{"id":"n5"}' })
      // What is on its way gives way to none.
      for (let n = 25; n < 50; n++) await outbox.add(report(`n${n}`))
      expect(await outbox.isClaimed(messages[0]?.number ?? 0, 'me')).toBe(true)
    }),
  },
]

/** The person who gets mails is protected, whoever asks for them. */
export const limitedMails: readonly ContractTest[] = [
  {
    title: 'a second mail to an address goes fifteen minutes later, a fourth of a site a day later',
    run: underPolicy(confirming, async (journal) => {
      const times: number[] = []
      for (let at = noon; at <= noon + dayMs; at += 5 * minuteMs) {
        // What was pending is decided, so that each one needs a mail of its own.
        await journal.erasure.forget(ada)
        await ask(journal, {}, 'share', at)
        if ((await send(journal, at)).length > 0) times.push((at - noon) / minuteMs)
      }
      expect(times).toEqual([0, 15, 30, 24 * 60])
    }),
  },

  {
    title: 'welcomes to who need not confirm keep the same limits, over all spellings of a mailbox',
    run: underPolicy({ welcomes: true }, async (journal) => {
      const greeting = { share: 'share', language: 'en' }
      const greet = (n: number) => makeSignup({ email: `ada+${n}@gmail.com`, receivedAt: noon })
      await journal.intake.append([1, 2, 3, 4].map(greet), { greeting })
      const times: number[] = []
      for (let at = noon; at <= noon + dayMs; at += 5 * minuteMs)
        for (const _ of await send(journal, at)) times.push((at - noon) / minuteMs)
      expect(times).toEqual([0, 15, 30, 24 * 60])
    }),
  },

  {
    title: 'spellings of one mailbox have one limit, and letter case does not count',
    run: underPolicy(confirming, async (journal) => {
      const spellings = Array.from({ length: 40 }, (_, index) => {
        const at = 1 + (index % 2)
        const mark = ['', '.', '-', '_'][index % 4] ?? ''
        const domain = ['proton.me', 'protonmail.com', 'pm.me'][index % 3] ?? ''
        return `${'Ada'.slice(0, at)}${mark}${'Ada'.slice(at)}${index > 3 ? `+${index}` : ''}@${domain}`
      })
      for (const email of spellings) await ask(journal, { email })
      expect(await send(journal)).toHaveLength(1)
      expect(await send(journal, noon + 15 * minuteMs - 1)).toEqual([])
      expect(await journal.outbox.figures(['confirm'])).toMatchObject({ resting: 39 })
      expect(await send(journal, noon + 15 * minuteMs)).toHaveLength(1)
    }),
  },

  {
    title:
      'within the limits no further mail asks for a tab while the one before does; one for another tab waits',
    run: underPolicy(confirming, async (journal) => {
      await ask(journal)
      await ask(journal, { sheetTab: 'News' })
      expect(await send(journal)).toEqual([ada])
      await ask(journal)
      expect(await send(journal)).toEqual([])
      expect(await send(journal, noon + hourMs / 4)).toEqual([ada])
      expect(await send(journal, noon + dayMs)).toEqual([])
      await ask(journal, {}, 'share', noon + dayMs)
      expect(await send(journal, noon + dayMs)).toEqual([ada])
    }),
  },

  {
    title: 'the pace of an hour holds mails back and drops none',
    run: underPolicy(confirming, async (journal) => {
      for (let n = 0; n < 5; n++) await ask(journal, { email: `${n}@example.com` }, `share ${n}`)
      const order = { perHour: 2 }
      expect(await send(journal, noon, order)).toHaveLength(2)
      expect(await send(journal, noon + hourMs - 1, order)).toEqual([])
      const claimed = {
        kinds: ['confirm'],
        by: 'me',
        now: noon + hourMs - 1,
        max: 9,
        ...order,
      } as const
      const { pacedUntil, nextAt } = await journal.outbox.claim(claimed)
      expect([pacedUntil, nextAt]).toEqual([noon + hourMs + 1, noon + hourMs + 1])
      expect(await send(journal, noon + hourMs + 1, order)).toHaveLength(2)
      expect(await send(journal, noon + 2 * hourMs + 2, order)).toHaveLength(1)
    }),
  },

  {
    title: 'a try that was not made takes nothing of the pace and of the limits',
    run: underPolicy(confirming, async (journal) => {
      await ask(journal)
      const [mail] = await claim(journal, noon, { perHour: 1 })
      await journal.outbox.settle(mail?.number ?? 0, { kind: 'untried', nextAt: noon + 1 })
      expect(await send(journal, noon + 1, { perHour: 1 })).toEqual([ada])
    }),
  },

  {
    title: 'while a try that was not made waits, another mail has its place in the pace',
    run: underPolicy(confirming, async (journal) => {
      await ask(journal)
      const [mail] = await claim(journal, noon, { perHour: 1 })
      await journal.outbox.settle(mail?.number ?? 0, { kind: 'untried', nextAt: noon + hourMs })
      await ask(journal, { email: 'bob@example.com' })
      expect(await send(journal, noon + 1, { perHour: 1 })).toEqual(['bob@example.com'])
    }),
  },

  {
    title: 'the pause of a mailbox begins when its mail was handed over, not when it was claimed',
    run: underPolicy(confirming, async (journal) => {
      await ask(journal, { email: 'ada@gmail.com' })
      const [mail] = await claim(journal)
      const handedOver = noon + 10 * minuteMs
      await journal.outbox.settle(mail?.number ?? 0, { kind: 'sent', at: handedOver })
      await ask(journal, { email: 'ada+1@gmail.com' }, 'share', handedOver)
      expect(await send(journal, noon + 15 * minuteMs)).toEqual([])
      expect(await send(journal, handedOver + 15 * minuteMs)).toEqual(['ada+1@gmail.com'])
    }),
  },

  {
    title: 'mails that failed at first keep the pause of their mailbox, too',
    run: underPolicy(confirming, async (journal) => {
      await ask(journal, { email: 'ada@gmail.com' })
      await ask(journal, { email: 'a.da@gmail.com' })
      const later = { kind: 'later', reason: 'it is busy' } as const
      for (const at of [noon, noon + 15 * minuteMs]) {
        const [mail] = await claim(journal, at)
        const nextAt = noon + 30 * minuteMs
        await journal.outbox.settle(mail?.number ?? 0, { ...later, at, nextAt })
      }
      expect(await send(journal, noon + 30 * minuteMs)).toHaveLength(1)
      expect(await send(journal, noon + 45 * minuteMs - 1)).toEqual([])
      expect(await send(journal, noon + 45 * minuteMs)).toHaveLength(1)
    }),
  },

  {
    title: 'no other mail goes to a mailbox while one to it is tried again',
    run: underPolicy(confirming, async (journal) => {
      await ask(journal, { email: 'ada@gmail.com' })
      const [first] = await claim(journal)
      const nextAt = noon + 20 * minuteMs
      const later = { kind: 'later', at: noon, nextAt, reason: 'it is busy' } as const
      await journal.outbox.settle(first?.number ?? 0, later)
      expect(await claim(journal, nextAt)).toMatchObject([{ id: first?.id, tries: 1 }])
      await ask(journal, { email: 'a.da@gmail.com' })
      expect(await claim(journal, nextAt + 1)).toEqual([])
      expect(await claim(journal, nextAt + 15 * minuteMs)).toHaveLength(1)
    }),
  },

  {
    title: 'a mail to the owner does not wait for the pace of mails to visitors',
    run: underPolicy(confirming, async (journal) => {
      for (let n = 0; n < 3; n++) await ask(journal, { email: `${n}@example.com` })
      await journal.outbox.add({ id: 'report', kind: 'report', body: '{}', at: noon })
      const kinds = (await claim(journal, noon, { perHour: 1 })).map(({ kind }) => kind)
      expect(kinds).toEqual(['confirm', 'report'])
    }),
  },

  {
    title: 'two instances together keep the limits and the pace',
    run: inTwo(async (one, other) => {
      const all = [one, other]
      for (let n = 0; n < 20; n++) {
        await ask(all[n % 2] ?? one, { email: `ada+${n % 4}@gmail.com` }, `share ${n}`)
        await ask(all[n % 2] ?? one, { email: `${n}@example.com` }, `share ${n}`)
      }
      const sent = await Promise.all(all.map((journal) => send(journal, noon, { perHour: 10 })))
      const mails = sent.flat()
      expect(mails).toHaveLength(10)
      expect(mails.filter((email) => email.endsWith('@gmail.com')).length).toBeLessThan(2)
    }, confirming),
  },
]

export const fairTurns: readonly ContractTest[] = [
  {
    title: 'clients take turns: who asked for many mails holds up nobody who asks for one',
    run: underPolicy(confirming, async (journal) => {
      for (let n = 0; n < 20; n++) await ask(journal, { email: `false-${n}@example.com` }, 'crowd')
      for (let n = 0; n < 5; n++) await ask(journal, { email: `real-${n}@example.com` }, `one ${n}`)
      const first = await send(journal, noon, { max: 6 })
      expect(first.filter((email) => email.startsWith('real'))).toHaveLength(5)
      await ask(journal, { email: 'late@example.com' }, 'late')
      expect(await send(journal, noon, { max: 2 })).toContain('late@example.com')
    }),
  },

  {
    title: 'a client that comes later takes no turn that is over, so that those who wait go on',
    run: underPolicy(confirming, async (journal) => {
      for (let n = 0; n < 4; n++) await ask(journal, { email: `${n}@example.com` }, 'early')
      const sent: string[] = []
      for (let n = 0; n < 6; n++) {
        await ask(journal, { email: `late-${n}@example.com` }, `late ${n}`)
        sent.push(...(await send(journal, noon, { max: 1 })))
      }
      expect(sent.filter((email) => !email.startsWith('late')).length).toBeGreaterThanOrEqual(3)
    }),
  },

  {
    title: 'mails that have to wait for their mailbox hold up nobody behind them',
    run: underPolicy(confirming, async (journal) => {
      for (let at = 0; at < 90; at++)
        await ask(journal, { email: `ada+${at}@gmail.com` }, `client ${at}`)
      await ask(journal, { email: 'grace@example.com' }, 'grace')
      await send(journal, noon, { max: 1 })
      expect(await send(journal, noon, { max: 1 })).toEqual(['grace@example.com'])
    }),
  },

  {
    title: 'requests for confirmation go before welcomes',
    run: underPolicy({ ...confirming, welcomes: true }, async (journal) => {
      const greeting = { share: 'early', language: 'en' }
      await journal.intake.append([makeSignup({ email: 'new@example.com' })], { greeting })
      await ask(journal)
      expect(await send(journal, noon, { max: 1 })).toEqual([ada])
      expect(await send(journal, noon, { max: 1 })).toEqual(['new@example.com'])
    }),
  },
]
