import { expect, test } from 'vitest'
import { madeUpDomain } from '../sandbox-month.ts'
import { startWorld } from './world.ts'

test('who was answered has one row after ten presses of a form and a kill, and the numbers see what the sheet loses', async () => {
  await using world = await startWorld()
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

  const [, command = '', url = ''] = /-d '(.*)' (\S+)$/.exec(world.state().deletion) ?? []
  await fetch(url, { method: 'POST', body: command })
  expect(world.state()).toMatchObject({ answered: 101, rows: 100, missing: 1, double: 0 })
  const again = JSON.stringify(['Sheet1', [[`visitor-50${madeUpDomain}`]]])
  await fetch(url.replace('deleteRows', 'appendRows'), { method: 'POST', body: again })
  expect(world.state()).toMatchObject({ rows: 101, missing: 1, double: 1 })
})
