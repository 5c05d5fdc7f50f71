import { expect, test } from 'vitest'
import { type Answer, ask, type Operation, run, runNow, type Step, together } from './sql.ts'

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
