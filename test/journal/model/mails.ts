import { expect } from 'vitest'

import type { Message } from '../../../src/journal/contracts/outbox.ts'
import * as model from './model.ts'
import { day, minute, type One } from './model.ts'
import { type Mail, people, type World } from './world.ts'

/** Whether a mail is to go for it, and none is known to be left out. */
const waits = (one: One) => one.state === 'pending' && !one.signup.suspect && !one.isMailed

/** Sends all mails that are due. Which go for which signups is left to the journal, within the limits. */
export async function sendMails(world: World): Promise<void> {
  const { model: state } = world
  const { now } = state
  const mails = new Map<string, Message>()
  await world.do(async ({ outbox }) => {
    const order = { kinds: ['confirm', 'welcome'], by: world.name(), now, max: 100 } as const
    for (const message of (await outbox.claim(order)).messages) {
      mails.set(message.id, message)
      const kind = message.isUnwanted ? 'dropped' : 'sent'
      await outbox.settle(message.number, { kind, at: now })
    }
  })
  const decided = await decidedIn(world)
  const note = (one: One) => Object.assign(one, { isMailed: true, expiresAt: model.endAfter(now) })
  for (const [message, { kind, email, isUnwanted }] of mails) {
    const person = model.personOf(email)
    world.mails.push({ person, at: now })
    // Nobody learns of a mail that goes no more: it takes its place like others.
    if (person === '') continue
    const isDeclined = model.blockOf(state, person) === 'declined'
    expect(isUnwanted, `nobody wants the mail to ${email}`).toBe(isDeclined)
    const one = decided.find((it) => kind === 'confirm' && it.person === person && waits(it))
    if (kind === 'welcome') checkWelcome(world, person)
    else {
      checkLimits(world, person)
      note(one ?? expect.fail(`a mail to ${person} that asks for nothing`))
    }
    if (isUnwanted) continue
    const link = { message, person, id: one?.signup.id, sentAt: now, hasAddress: true }
    state.links.push({ ...link, kind: one ? 'confirm' : 'welcome' })
  }
  // For a tab that an earlier one asks for, none goes within the limits.
  for (const one of decided.filter(waits)) {
    const before = state.ones.slice(0, state.ones.indexOf(one))
    const isAsked = before.some((it) => it.person === one.person && it.tab === one.tab)
    expect(isAsked, `${one.signup.email} has an end and no mail`).toBe(true)
    note(one)
  }
  for (const { person } of state.ones.filter((one) => waits(one) && model.isPending(one))) {
    const isBefore = (mail: Mail) => mail.person === person || mail.person === ''
    const rests = world.mails.some((mail) => isBefore(mail) && mail.at > now - day)
    expect(rests, `no mail goes to ${person}`).toBe(true)
  }
}

/** Those that wait and have their end now. */
async function decidedIn({ journal, model: state }: World): Promise<readonly One[]> {
  const lists = await Promise.all(people.map((email) => journal.confirmation.ofPerson(email)))
  const pending = lists.flatMap((list) => list.pending).filter(({ until }) => until !== undefined)
  const ids = pending.map(({ signup }) => signup.id)
  return state.ones.filter((one) => waits(one) && ids.includes(one.signup.id))
}

function checkLimits({ mails, model: { now } }: World, person: string): void {
  const sent = mails.filter((mail) => mail.person === person && mail.at > now - day)
  expect(sent.length, `mails to ${person} within a day`).toBeLessThan(4)
  const recent = sent.filter(({ at }) => at > now - 15 * minute)
  expect(recent.length, `mails to ${person} within 15 minutes`).toBe(1)
}

function checkWelcome({ model: state }: World, person: string): void {
  expect(model.blockOf(state, person), `a welcome to ${person}`).toBeUndefined()
  const had = state.links.filter((it) => it.kind === 'welcome' && it.person === person)
  expect(had, `a second welcome to ${person}`).toEqual([])
  const theirs = model.ofPerson(state, person).filter(model.isCounted)
  const isThere = theirs.some(({ cells }) => cells === 'kept' || cells === 'old')
  expect(isThere, `a welcome to ${person}, who is not there`).toBe(true)
}
