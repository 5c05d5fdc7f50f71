import { expect } from 'vitest'

import * as model from './model.ts'
import { isListed, type One } from './model.ts'
import { people, statusOf, type World } from './world.ts'

const all = 1_000
/** Which signups these are, and whether they have their cells. */
const toldOf = (records: readonly { signup: { id: string; email: string } }[]) =>
  records.map(({ signup: { id, email } }) => [id, email])

/** Compares all that the journal tells with the model. */
export async function check(world: World): Promise<void> {
  const { journal, model: state } = world
  const { reader, intake } = journal
  const listed = model.listed(state)
  const pending = state.ones.filter(model.isPending)
  expect(toldOf(await reader.page(0, all)), 'the list').toEqual(
    toldOf(listed.filter(model.isShown)),
  )
  expect(toldOf(await reader.pending(0, all)), 'pending').toEqual(toldOf(pending))
  const held = [...listed, ...pending].filter(model.isHeld)
  expect(toldOf(await reader.held(0, all)), 'held').toEqual(toldOf(held))
  for (const one of state.ones)
    expect(await intake.find(one.signup.id), one.signup.name).toEqual(statusOf(world, one))
  for (const email of people) await checkPerson(world, model.personOf(email))
  await checkBatch(world)

  const number = (of: (one: One) => boolean) => state.ones.filter(of).length
  const suspect = number(({ isSuspect }) => isSuspect)
  const { all: counts, waiting } = await reader.figures()
  expect(counts, 'figures').toMatchObject({
    accepted: number(model.isCounted),
    confirmed: number(({ confirmedAt }) => confirmedAt !== undefined),
    suspect,
    held: state.policy.holdsSuspects ? suspect : 0,
    pending: pending.length,
  })
  // Held and erased ones wait, too.
  const isWaiting = (one: One) => isListed(one) && (!one.writtenAt || one.isAgain)
  expect(waiting, 'waiting').toBe(number(isWaiting))
}

async function checkPerson({ journal, model: state }: World, person: string): Promise<void> {
  const { pending, block } = await journal.confirmation.ofPerson(person)
  const ends = pending.map(({ signup, until }) => [signup.id, signup.suspect ? undefined : until])
  const expected = model.ofPerson(state, person).filter(model.isPending)
  expect(ends, `pending of ${person}`).toEqual(
    expected.map(({ signup, isMailed, expiresAt }) => [
      signup.id,
      isMailed ? expiresAt : undefined,
    ]),
  )
  const isOver = block?.until !== undefined && block.until <= state.now
  expect(isOver ? undefined : block?.why, `block of ${person}`).toBe(model.blockOf(state, person))
  const positions: number[] = []
  for (let next: number | undefined = 0; next !== undefined;) {
    const slice = await journal.reader.positionsOf(person, next)
    positions.push(...slice.positions)
    next = slice.next
  }
  const found = await journal.reader.at(positions)
  const theirs = model.listed(state).filter((one) => one.person === person)
  const there = theirs.filter(({ cells }) => cells === 'kept')
  expect(toldOf(found), `signups of ${person}`).toEqual(toldOf(there))
}

async function checkBatch({ journal, model: state }: World): Promise<void> {
  const batch = await journal.delivery.frozenBatch()
  const rows = (batch?.tabs ?? []).flatMap(({ tab, signups }) =>
    signups.map((signup) => ({ ...signup, sheetTab: tab })),
  )
  const items = state.frozen?.items.filter(({ hasRow }) => hasRow) ?? []
  const expected = items.map(({ one: { signup, tab, confirmedAt } }) => {
    return { ...signup, sheetTab: tab, ...(confirmedAt && { confirmedAt }) }
  })
  const byName = (some: readonly { readonly name: string }[]) =>
    some.toSorted((a, b) => Number(a.name) - Number(b.name))
  expect(byName(rows), 'the frozen batch').toEqual(byName(expected))
}
