// @module-tag slow
import { expect, test } from 'vitest'
import { patienceMs } from '../../harness/patience.ts'
import { madeUpDomain } from '../sandbox-month.ts'
import { verdictOf } from './verdict.ts'
import { startWorld } from './world.ts'

test('who was answered has one row after ten presses of a form and a kill, in a tab that somebody renames; what the sheet loses is seen', async () => {
  let timeMs = 0
  await using world = await startWorld(() => timeMs)
  const { pid } = world.state()
  expect(world.press('nothing')).toBe(false)
  expect(['tenfold', 'kill'].map(world.press)).toEqual([true, true])
  expect(world.press('kill')).toBe(false)
  await expect
    .poll(() => world.state())
    .toMatchObject({
      ...{ answered: 101, answers: 110, unanswered: 0, rows: 101, missing: 0, double: 0 },
      made: { tenfold: { times: 1, isRunning: false }, kill: { times: 1, isRunning: false } },
    })
  expect(world.state().pid).not.toBe(pid)
  const told = 'Each of the 101 who were answered has one row.'
  expect(verdictOf(world.state())).toEqual([told, 'good'])

  const deedsUrl = /\S+(?=\/deleteRows)/.exec(world.state().deletion)?.[0] ?? ''
  const ask = (deed: string, body: string) => fetch(`${deedsUrl}/${deed}`, { method: 'POST', body })
  await ask('renameTab', '["Sheet1", "People"]')
  expect(world.state()).toMatchObject({ rows: 101, missing: 0 })
  await ask('deleteRows', /'(.*)'/.exec(world.state().deletion)?.[1] ?? '')
  expect(world.state()).toMatchObject({ answered: 101, rows: 100, missing: 1, double: 0 })
  timeMs = 89_999
  expect(verdictOf(world.state())).toEqual([expect.stringContaining('Rows to come: 1.'), 'waits'])
  timeMs = 90_000
  expect(verdictOf(world.state())).toEqual([expect.stringContaining('Rows are missing: 1.'), 'bad'])
  await ask('appendRows', JSON.stringify(['People', [[`visitor-50${madeUpDomain}`]]]))
  expect(world.state()).toMatchObject({ rows: 101, missing: 1, double: 1 })
})

test.each([
  ['down', 503],
  ['quota', 429],
  ['lost', 'dropped'],
  ['late', 504],
] as const)('calls that meet the attempt "%s" alone end with %s', async (name, status) => {
  await using world = await startWorld()
  expect(world.press(name)).toBe(true)
  const statuses = () => world.state().calls.map((call) => call.status)
  await expect.poll(statuses, { timeout: patienceMs }).toContain(status)
})
