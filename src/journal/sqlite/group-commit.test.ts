import { expect, test } from 'vitest'
import { systemClock } from '../../platform/clock.ts'
import { GroupCommit } from './group-commit.ts'
import { JournalBusy, OutcomeUnknown } from '../contracts/errors.ts'

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

test('items of one turn of the event loop are committed together, and later ones are not', async () => {
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

test('after slow commits, the next commit waits while each turn brings more items', async () => {
  const { groups, group } = commits(5)
  await group.add(0)
  await group.add(1)
  await addOneByOne(group, [2, 3, 4])
  expect(groups).toEqual([[0], [1], [2, 3, 4]])
})

test('a group whose first turn is long waits as long again while each turn brings more items', async () => {
  const { groups, pass, group } = commits(0)
  const added = [group.add(1)]
  pass(50)
  await turn()
  for (const item of [2, 3, 4]) {
    added.push(group.add(item))
    pass(item === 3 ? 50 : 10)
    await turn()
  }
  await Promise.all(added)
  expect(groups).toEqual([[1, 2, 3], [4]])
})

test('a single slow commit does not delay later ones', async () => {
  const { groups, group } = commits(0, 500, 0)
  await group.add(0)
  await group.add(1)
  await addOneByOne(group, [2, 3, 4])
  expect(groups).toEqual([[0], [1], [2], [3], [4]])
})

test('a commit waits no longer than a commit takes, however many items arrive', async () => {
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

test('while another process writes, items wait in order and are committed with later ones', async () => {
  const groups: (readonly number[])[] = []
  let isOccupied = true
  const commit = (items: readonly number[]) => {
    if (isOccupied) throw new JournalBusy('locked')
    groups.push(items)
    return items
  }
  const group = new GroupCommit(commit, systemClock)
  const first = [group.add(1), group.add(2)]
  await turn()
  await turn()
  const third = group.add(3)
  isOccupied = false
  expect(await Promise.all([...first, third])).toEqual([1, 2, 3])
  expect(groups).toEqual([[1, 2, 3]])
})

test('items are rejected when another process writes for too long, and later ones are committed', async () => {
  let isOccupied = true
  let now = 0
  const commit = (items: readonly number[]) => {
    if (isOccupied) throw new JournalBusy('locked')
    return items
  }
  const sleep = (ms: number) => {
    now += ms
    return turn().then(() => undefined)
  }
  const group = new GroupCommit(commit, { elapsed: () => now, sleep })
  await expect(group.add(1)).rejects.toThrow(JournalBusy)
  expect(now).toBeGreaterThanOrEqual(5_000)
  isOccupied = false
  expect(await group.add(2)).toBe(2)
})

test('each time another process writes for too long, items wait for the same five seconds', async () => {
  let now = 0
  let tries = 0
  const commit = (items: readonly number[]) => {
    tries += 1
    if (tries % 500 !== 0) throw new JournalBusy('locked')
    return items
  }
  const sleep = async (ms: number) => {
    now += ms
    await turn()
  }
  const group = new GroupCommit(commit, { elapsed: () => now, sleep })
  for (let round = 1; round <= 3; round++) {
    // The 500th try succeeds, 4.99 s after the first one.
    expect(await group.add(round)).toBe(round)
    expect([tries, now]).toEqual([round * 500, round * 4990])
  }
})

test('drain commits at once what waits, and waits while another process writes', async () => {
  const { groups, group } = commits(0)
  const added = group.add(1)
  await group.drain()
  expect(groups).toEqual([[1]])
  expect(await added).toBe(1)

  let tries = 0
  const busyAtFirst = new GroupCommit((items: readonly number[]) => {
    tries += 1
    if (tries <= 3) throw new JournalBusy('locked')
    return items
  }, systemClock)
  const late = busyAtFirst.add(2)
  await busyAtFirst.drain()
  expect(tries).toBe(4)
  expect(await late).toBe(2)
})

test('an item that fails is rejected with its own reason, and those beside it are committed', async () => {
  const tried: (readonly number[])[] = []
  const commit = (items: readonly number[]) => {
    tried.push(items)
    if (items.includes(2)) throw new Error('two')
    if (items.length === 1 && items.includes(3)) throw new JournalBusy('locked')
    return items.map((item) => item * 10)
  }
  const group = new GroupCommit(commit, systemClock)
  const ends = await Promise.allSettled([1, 2, 3].map((item) => group.add(item)))
  expect(ends).toMatchObject([
    { status: 'fulfilled', value: 10 },
    { status: 'rejected', reason: { message: 'two' } },
    { status: 'rejected', reason: { name: 'JournalBusy' } },
  ])
  expect(tried).toEqual([[1, 2, 3], [1], [2], [3]])
  await expect(group.add(2)).rejects.toThrow('two')
  expect(tried.slice(4)).toEqual([[2]])
})

test('an item whose first commit may have happened is not refused by a second one that failed', async () => {
  const unknown = new OutcomeUnknown('nobody knows')
  const group = new GroupCommit((items: readonly string[]) => {
    if (items.length > 1) throw unknown
    throw new Error('disk full')
  }, systemClock)
  const [first, second] = await Promise.allSettled([group.add('a'), group.add('b')])
  for (const it of [first, second]) expect(it).toEqual({ status: 'rejected', reason: unknown })
})
