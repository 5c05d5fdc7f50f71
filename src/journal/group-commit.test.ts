import { expect, test } from 'vitest'
import { systemClock } from '../platform/clock.ts'
import { GroupCommit } from './group-commit.ts'

/** Commits that take so long, one after the other, on a clock that moves with nothing else; and their groups. */
function commits(...tookMs: number[]) {
  const groups: (readonly number[])[] = []
  let now = 0
  const commit = (items: readonly number[]) => {
    groups.push(items)
    now += tookMs[Math.min(groups.length, tookMs.length) - 1] ?? 0
    return items
  }
  const pass = (ms: number) => {
    now += ms
  }
  return {
    groups,
    pass,
    group: new GroupCommit(commit, { sleep: systemClock.sleep, elapsed: () => now }),
  }
}

const turn = () => new Promise((resolve) => setImmediate(resolve))

test('what arrives in one turn of the event loop is committed together, what comes later is not', async () => {
  const { groups, group } = commits(0)
  expect(await Promise.all([group.add(1), group.add(2)])).toEqual([1, 2])
  const third = group.add(3)
  await turn()
  await Promise.all([third, group.add(4)])
  expect(groups).toEqual([[1, 2], [3], [4]])
})

/** Adds these, each in a turn of its own. */
async function addOneByOne(group: GroupCommit<number, number>, items: readonly number[]) {
  const added: Promise<number>[] = []
  for (const item of items) {
    added.push(group.add(item))
    await turn()
  }
  await Promise.all(added)
}

test('where commits take long, the next one waits while each turn brings more', async () => {
  const { groups, group } = commits(5)
  await group.add(0)
  await group.add(1)
  await addOneByOne(group, [2, 3, 4])
  expect(groups).toEqual([[0], [1], [2, 3, 4]])
})

test('one commit that took long holds no later one up', async () => {
  const { groups, group } = commits(0, 500, 0)
  await group.add(0)
  await group.add(1)
  await addOneByOne(group, [2, 3, 4])
  expect(groups).toEqual([[0], [1], [2], [3], [4]])
})

test('it waits no longer than a commit takes, however many arrive', async () => {
  const { groups, pass, group } = commits(5)
  await group.add(-1)
  await group.add(0)
  const added: Promise<number>[] = []
  for (let item = 1; item <= 12; item++) {
    added.push(group.add(item))
    pass(2)
    await turn()
  }
  await Promise.all(added)
  expect(Math.max(...groups.map(({ length }) => length))).toBeLessThanOrEqual(4)
  expect(groups.flat()).toEqual([-1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12])
})
