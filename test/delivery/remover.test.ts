import { expect, test } from 'vitest'

import { makeSignup } from '../../harness/make-signup.ts'
import { ada, forget } from '../journal/contracts/erasure-contract.ts'
import { createDeliveryWorld, writes } from './writer-world.ts'

const second = 1000
const minute = 60 * second
const bob = 'bob@example.com'

const refused = {
  kind: 'refused',
  reason: 'protectedTab',
  message: 'No',
  hint: 'Mend it.',
} as const

test('a removal is tried until a search finds no row, and its outcome is noted', async () => {
  await using world = createDeliveryWorld({ lookEveryMs: second })
  const { journal, spreadsheet, clock, writer } = world
  await journal.intake.append([makeSignup({ email: ada }), makeSignup({ email: bob })])
  writer.start()
  await world.delivered(2)
  await forget(journal)
  await clock.run(10 * second)
  expect(spreadsheet.rows).toEqual({ Sheet1: [bob] })
  expect(spreadsheet.calls.filter((call) => call.startsWith('remove'))).toHaveLength(2)
  expect(await journal.erasure.unfinished()).toMatchObject({ removals: 0, frozen: 0 })
  expect(await journal.erasure.takeOutcome(1)).toEqual({ wasFound: true, others: 0 })
})

test('a row that was never found is told as such', async () => {
  await using world = createDeliveryWorld({ lookEveryMs: second })
  const { journal, spreadsheet, clock, writer } = world
  await journal.intake.append([makeSignup({ email: ada })])
  writer.start()
  await world.delivered(1)
  spreadsheet.rows['Sheet1'] = []
  await forget(journal)
  await clock.run(10 * second)
  expect(await journal.erasure.takeOutcome(1)).toEqual({ wasFound: false, others: 0 })
})

test('a removal that is refused holds no batch back, is tried at a slow pace, and reported once', async () => {
  const reasons: string[] = []
  const heard = { removalDelayed: (reason: string) => void reasons.push(reason) }
  await using world = createDeliveryWorld({ lookEveryMs: second, heard })
  const { journal, spreadsheet, clock, writer } = world
  await journal.intake.append([makeSignup({ email: ada })])
  writer.start()
  await world.delivered(1)
  spreadsheet.removes = () => ({ kind: 'removed', standing: [1], others: [0], failure: refused })
  await forget(journal)
  await clock.run(10 * minute)
  await journal.intake.append([makeSignup({ email: bob })])
  await clock.run(minute)
  expect(writes(spreadsheet)).toHaveLength(2)
  const tries = spreadsheet.calls.filter((call) => call.startsWith('remove')).length
  expect(tries).toBeGreaterThan(20)
  expect(tries).toBeLessThan(26)
  expect(reasons).toEqual(['No'])
  spreadsheet.removes = () => undefined
  await clock.run(2 * minute)
  expect(await journal.erasure.unfinished()).toMatchObject({ removals: 0, frozen: 0 })
})

test('a forgotten signup of the frozen batch is written with it, and its row is removed then', async () => {
  await using world = createDeliveryWorld({ lookEveryMs: second })
  const { journal, spreadsheet, clock, writer } = world
  await journal.intake.append([makeSignup({ email: ada }), makeSignup({ email: bob })])
  spreadsheet.script = () => ({ applies: false, answers: { kind: 'unknown', message: 'timeout' } })
  writer.start()
  await clock.run(minute)
  expect(await forget(journal)).toMatchObject({ frozen: [1] })
  await clock.run(minute)
  expect(await journal.erasure.unfinished()).toMatchObject({ removals: 0, frozen: 1 })
  spreadsheet.script = () => undefined
  await clock.run(5 * minute)
  expect(spreadsheet.rows).toEqual({ Sheet1: [bob] })
  expect(await journal.erasure.unfinished()).toMatchObject({ removals: 0, frozen: 0 })
})

test('the log of the journal is emptied when the last removal is done', async () => {
  await using world = createDeliveryWorld({ lookEveryMs: second })
  const { journal, clock, writer } = world
  await journal.intake.append([makeSignup({ email: ada })])
  writer.start()
  await world.delivered(1)
  await forget(journal)
  await clock.run(10 * second)
  expect(await journal.delivery.fact('copies in the log')).toBeUndefined()
})

test('a writer that only removes rows ends the frozen batch, and freezes no other', async () => {
  await using world = createDeliveryWorld({ removesOnly: true })
  const { journal, spreadsheet, clock, writer } = world
  const [tab] = await (async () => {
    await journal.intake.append([makeSignup({ email: ada })])
    return journal.delivery.pending()
  })()
  const slice = await journal.delivery.waiting(tab ?? expect.fail())
  await journal.delivery.freeze([{ tab: tab ?? expect.fail(), ...slice }], 1000)
  await journal.intake.append([makeSignup({ email: bob })])
  await forget(journal)
  writer.start()
  await clock.run(minute)
  expect(writes(spreadsheet)).toEqual(['write 1'])
  expect(spreadsheet.rows).toEqual({ Sheet1: [] })
  expect(await journal.delivery.pending()).toHaveLength(1)
})
