import { expect, test } from 'vitest'
import {
  type Answer,
  ask,
  flagOf,
  numberOf,
  type Operation,
  run,
  runNow,
  statementsOf,
  type Step,
  textOf,
  together,
} from './sql.ts'

const step = (name: string): Step => [{ name, text: () => name }]
const answerTo = ([{ name }]: Step): Answer => ({ rows: [{ name }], changes: 0 })

/** Asks for these steps, one after the other. Returns the names that it was answered with. */
function* asking(...names: readonly string[]): Operation<readonly unknown[]> {
  const found: unknown[] = []
  for (const name of names) {
    const [first, second] = yield* ask(step(name), step(`${name}!`))
    found.push(first.rows[0]?.['name'], second.rows[0]?.['name'])
  }
  return found
}

test('operations side by side share their lists, and each gets its own answers', async () => {
  const lists: string[][] = []
  const both = () => together(asking('a'), asking(), asking('b', 'c'))
  const results = await run(both(), async (steps) => {
    lists.push(steps.map(([{ name }]) => name))
    return steps.map(answerTo)
  })
  expect(results).toEqual([['a', 'a!'], [], ['b', 'b!', 'c', 'c!']])
  expect(lists).toEqual([
    ['a', 'a!', 'b', 'b!'],
    ['c', 'c!'],
  ])
  expect(runNow(both(), answerTo)).toEqual(results)
})

test('what one of several operations throws ends all of them', () => {
  const failing = function* (): Operation<void> {
    yield* ask(step('x'))
    throw new Error('It failed.')
  }
  const asked: string[] = []
  const work = () =>
    runNow(together(asking('a', 'b'), failing()), (one) => {
      asked.push(one[0].name)
      return answerTo(one)
    })
  expect(work).toThrow('It failed.')
  expect(asked).toEqual(['a', 'a!', 'x'])
})

test('two statements never have one name', () => {
  statementsOf('test of names', { read: 'SELECT 1' })
  expect(() => statementsOf('test of names', { read: 'SELECT 2' })).toThrow(
    'There are two test of names.read.',
  )
})

test('a flag, a number and a text are read alike from both engines, and nothing from null', () => {
  expect([true, 1, false, 0, null, undefined].map(flagOf)).toEqual([
    true,
    true,
    false,
    false,
    false,
    false,
  ])
  expect([7, '7', null, undefined].map(numberOf)).toEqual([7, 7, undefined, undefined])
  expect(['', 'a', null, undefined].map(textOf)).toEqual(['', 'a', undefined, undefined])
})
