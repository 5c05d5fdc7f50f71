import { expect } from 'vitest'

import { makeSignup } from '../../../harness/make-signup.ts'
import { restoredFact, type TabShare } from '../../../src/journal/contracts/delivery-log.ts'
import { Overtaken } from '../../../src/journal/contracts/errors.ts'
import type { Signup } from '../../../src/signup/signup.ts'
import { sendMails } from './mails.ts'
import * as model from './model.ts'
import { day, hour, type Link, minute, type Model } from './model.ts'
import { type Row, statusOf, type World } from './world.ts'

/** What the journal does, and what the model does. `pick` chooses among what there is. */
type Act = (world: World, email: string, pick: number) => Promise<void>

const all = 1_000
const addressing = { share: 'share', language: 'en' }
const waits = [20 * minute, hour, day, 3 * day, 8 * day, 31 * day, 91 * day]

const positionsOf = (some: readonly { readonly position: number }[]) =>
  some.map(({ position }) => position)

/** Whoever ends a batch a second time, or freezes one, learns that it is too late. */
const overtaken = (error: unknown): undefined => {
  if (!(error instanceof Overtaken)) throw error
  return undefined
}

/** A request for one or two signups, into the list or beside it. */
const requesting =
  (kind: 'append' | 'ask'): Act =>
  async (world, email, pick) => {
    const waiting = model.ofPerson(world.model, email).filter(model.isPending)
    // Beyond 20 of a person, a new one ends another.
    if (kind === 'ask' && waiting.length > 17) return
    const signups = Array.from({ length: 1 + (pick % 2) }, (_, at) =>
      world.signup(email, pick + at),
    )
    const idempotency = { space: '', key: world.name(), fingerprint: 'content' }
    const terms = { idempotency, addressing, greeting: addressing }
    const said = await world.do(({ intake }, isAgain) => {
      // A request that is repeated makes signups of its own.
      const anew = ({ receivedAt }: Signup) => makeSignup({ receivedAt }).id
      const given = signups.map((one) => (isAgain ? { ...one, id: anew(one) } : one))
      return intake[kind](given, terms)
    })
    const results = signups.map((signup) => {
      const one = model.add(world.model, signup)
      if (kind === 'append') model.enlist(world.model, one)
      return { ...statusOf(world, one), ...(kind === 'ask' && { beside: 'pending' }) }
    })
    expect(said).toMatchObject({ results })
  }

/** Somebody decides by the link of a mail, or once more by one that can do nothing any more. */
const deciding =
  (
    kind: Link['kind'],
    decision: 'confirm' | 'decline' | 'leave',
    decide: (state: Model, link: Link) => string | undefined,
  ): Act =>
  async (world, _, pick) => {
    const links = world.model.links.filter((link) => link.kind === kind)
    const link = links.at(-1 - (pick % links.length))
    if (!link) return
    const { now } = world.model
    const said = await world.do(({ confirmation }) => confirmation[decision](link.message, now))
    const decided = decide(world.model, link)
    if (decided) expect(said?.state).toBe(decided)
  }

/** The owner decides on a held signup, or on all. */
async function heldOf(world: World, pick: number) {
  const records = await world.journal.reader.held(0, all)
  const held = records.map(({ position, signup }) => {
    return { position, one: model.known(world.model, signup.id) }
  })
  const at = pick % Math.max(1, held.length)
  return pick % 3 === 0 ? held : held.slice(at, at + 1)
}

/** All acts, by their names. */
export const acts: Readonly<Record<string, Act>> = {
  append: requesting('append'),
  ask: requesting('ask'),
  mail: sendMails,

  confirm: deciding('confirm', 'confirm', (state, { id, person }) => {
    const one = model.known(state, id)
    if (!model.isPending(one)) return undefined
    for (const it of state.ones.slice(state.ones.indexOf(one) + 1))
      if (it.person === person && it.tab === one.tab && model.isPending(it)) model.erase(state, it)
    one.confirmedAt = state.now
    model.enlist(state, one)
    state.blocks.delete(person)
    return 'confirmed'
  }),

  /** By the link of one that is pending no more, nothing is declined. */
  decline: deciding('confirm', 'decline', (state, { id, person }) => {
    if (!model.isPending(model.known(state, id))) return undefined
    for (const it of model.ofPerson(state, person).filter(model.isPending)) model.erase(state, it)
    state.blocks.set(person, { why: 'declined', until: state.now + 30 * day })
    return 'declined'
  }),

  leave: deciding('welcome', 'leave', (state, { person, hasAddress }) => {
    if (!person) return undefined
    const theirs = model.ofPerson(state, person)
    const known = theirs.filter((one) => model.isListed(one) && model.hasCells(one))
    const left = theirs.filter((one) => !model.isErased(one))
    if (hasAddress || known.length > 0) state.buried.add(person)
    else for (const { signup } of left) state.departed.add(signup.id)
    for (const one of theirs) model.erase(state, one)
    state.blocks.set(person, { why: 'left', until: Infinity })
    return 'left'
  }),

  async allow(world, email) {
    await world.do(({ confirmation }) => confirmation.allow(email))
    if (!world.model.blocks.delete(model.personOf(email))) return
    // What waits is as if it was asked for now.
    for (const one of model.ofPerson(world.model, email).filter(model.isPending)) {
      if (one.isMailed) one.expiresAt += 30 * day
      one.isMailed = false
    }
  },

  /** Time passes, and what is due by it is erased. */
  async wait(world, _, pick) {
    world.pass(waits[pick % waits.length] ?? 0)
    await world.do(async ({ confirmation }) => {
      while (await confirmation.sweep(world.model.now));
    })
    model.sweep(world.model)
  },

  async freeze(world, _, pick) {
    const { delivery } = world.journal
    const shares: TabShare[] = []
    for (const tab of world.model.frozen ? [] : await delivery.pending()) {
      const { signups } = await delivery.waiting(tab)
      shares.push({ tab, signups: pick % 3 === 0 ? signups : signups.slice(0, 1 + (pick % 4)) })
    }
    if (shares.length === 0) return
    const batch = await world.do((journal) =>
      journal.delivery.freeze(shares, 1_000_000).catch(overtaken),
    )
    const items = shares.flatMap(({ tab: { isAgain }, signups }) =>
      signups.map(({ signup }) => {
        const one = model.known(world.model, signup.id)
        return { one, isAgain, hasRow: model.getsRow(one) }
      }),
    )
    world.model.frozen = { ...(batch ?? expect.fail('Nothing is frozen.')), items }
  },

  async settle(world) {
    const { frozen, now } = world.model
    if (!frozen) return
    await world.do(({ delivery }) => delivery.settle(frozen.number, now).catch(overtaken))
    for (const { one, isAgain, hasRow } of frozen.items) {
      const { signup, tab } = one
      const isThere = world.rows.some(({ id }) => id === signup.id)
      expect(isThere && hasRow, `a second row of ${signup.email}`).toBe(false)
      if (hasRow) world.rows.push({ ...signup, tab })
      one.hasRow ||= hasRow
      if (isAgain) one.isAgain = false
      one.writtenAt ??= now
      one.settledAt = now
    }
    model.unfreeze(world.model)
  },

  async giveUp(world) {
    const { frozen } = world.model
    if (!frozen) return
    await world.do(({ delivery }) => delivery.release(frozen).catch(overtaken))
    model.unfreeze(world.model)
  },

  async release(world, _, pick) {
    const held = await heldOf(world, pick)
    const { now } = world.model
    const said = await world.do(({ quarantine }) => quarantine.release(positionsOf(held), now))
    const frozen = held.filter(({ one }) => model.isFrozen(world.model, one))
    for (const it of held) if (!frozen.includes(it)) model.release(world.model, it.one)
    expect(said).toEqual({ signups: held.length - frozen.length, frozen: positionsOf(frozen) })
  },

  async erase(world, _, pick) {
    const held = await heldOf(world, pick)
    const said = await world.do(({ quarantine }) => quarantine.erase(positionsOf(held)))
    expect(said).toBe(held.length)
    for (const { one } of held) model.erase(world.model, one)
  },

  async forget(world, email) {
    await world.do(async ({ erasure }) => {
      await erasure.forget(email)
      for (let next: number | undefined = 0; next !== undefined;)
        next = (await erasure.eraseNext(next, email)).next
    })
    model.forget(world.model, model.personOf(email))
  },

  async expire(world, _, pick) {
    const { now, ones } = world.model
    const before = now - (pick % 3) * day
    await world.do(async ({ retention }) => {
      while (await retention.expire(before));
    })
    for (const one of ones.filter(model.isShown)) {
      const isResting = !one.isAgain && !model.isFrozen(world.model, one)
      if (isResting && one.settledAt && one.settledAt < before) one.cells = 'old'
    }
    for (const link of world.model.links) link.hasAddress &&= link.sentAt >= before
  },

  async import(world, email, pick) {
    const signup = model.plain(world.signup(email, pick))
    const said = await world.do(async ({ imports }, isAgain) => {
      const [result] = isAgain ? [] : await imports.add([signup])
      await imports.flush()
      return result
    })
    const isBuried = world.model.buried.has(model.personOf(email))
    const isRefused = isBuried || model.isKnown(world.model, signup)
    expect(said === 'added', `import: ${said}`).toBe(!isRefused)
    if (!isRefused) model.enlist(world.model, model.add(world.model, signup, true))
  },

  /** People delete rows in the spreadsheet. */
  async tidy(world, email, pick) {
    const isTheirs = (row: Row) => pick % 3 === 0 || model.personOf(row.email) === email
    world.rows = world.rows.filter((row) => !isTheirs(row))
  },

  /** The owner delivers again what the spreadsheet does not have. */
  async backfill(world) {
    const { model: state, rows } = world
    const { compared } = world.journal
    const last = await compared.lastSettled()
    const page = await compared.page(0, all, last)
    const written = model.listed(state).filter((one) => model.isWritten(state, one))
    const found = page.filter(({ row }) => row === 'written')
    expect(positionsOf(found), 'written').toEqual(positionsOf(written))
    const missing = written.filter(({ signup }) => !rows.some(({ id }) => id === signup.id))
    const said = await world.do((journal) =>
      journal.compared.deliverAgain(positionsOf(missing), state.now, last),
    )
    expect(said).toBe(missing.length)
    for (const one of missing) one.isAgain = true
  },

  /** The rows of who was erased go. */
  async remove(world) {
    const removals = await world.journal.erasure.removals(0)
    // The row of one in the frozen batch may have been there before: it need not wait for that.
    const erased = world.model.ones.filter((it) => model.isErased(it) || it.cells === 'doomed')
    expect(positionsOf(erased), 'erased').toEqual(expect.arrayContaining(positionsOf(removals)))
    const goes = ({ tab, email, receivedAt }: Row) =>
      removals.some((it) => it.tab === tab && it.email === email && it.receivedAt === receivedAt)
    world.rows = world.rows.filter((row) => !goes(row))
    await world.do(({ erasure }) => erasure.removed(positionsOf(removals)))
  },

  /** Webhooks tell what they have to. */
  async tell(world) {
    await world.do(async ({ webhooks }) => {
      for (let isMore = true; isMore;) {
        const { cursor: from = 0 } = (await webhooks.endpoint('crm')) ?? {}
        const { messages, upto: to } = await webhooks.next('crm', from, world.model.now)
        for (const { type, signup } of messages) {
          world.told.add(`${type} ${signup.id}`)
          const isTold = model.isTold(model.known(world.model, signup.id))
          expect(isTold || type === 'signup.erased', `tells of ${signup.email}`).toBe(true)
        }
        const outcomes = messages.map((message) => ({ ...message, kind: 'sent' }) as const)
        await webhooks.settle('crm', { from, to, outcomes })
        isMore = messages.length > 0 || to > from
      }
    })
  },

  crash: (world) => world.crash(),

  async backup(world) {
    await world.store.copies?.backUp()
    world.backup = structuredClone(world.model)
  },

  /** As the writer does it after a restore, it finds out which of those that wait have a row. */
  async restore(world, email, pick) {
    if (!world.backup || !world.store.copies) return
    await world.journal[Symbol.asyncDispose]()
    await world.store.copies.restore()
    await world.open()
    const { compared, delivery } = world.journal
    const frozen = await delivery.frozen()
    if (frozen) await delivery.release(frozen)
    world.model = model.restored(world.backup, world.model)
    const page = await compared.page(0, all, await compared.lastSettled())
    const hasRow = (it: Pick<Row, 'email' | 'receivedAt'>) =>
      world.rows.some((row) => row.email === it.email && row.receivedAt === it.receivedAt)
    const arrived = page.filter((one) => one.row === 'waiting' && hasRow(one))
    await compared.noteArrived(positionsOf(arrived))
    await delivery.noteFact(restoredFact, '')
    for (const one of world.model.ones)
      if (positionsOf(arrived).includes(one.position))
        Object.assign(one, { hasRow: true, isAgain: false })
    await acts['wait']?.(world, email, pick)
  },
}
