import { expect, test } from 'vitest'

import { freezeNext } from '../../harness/freeze-next.ts'
import { makeSignup, makeSignups } from '../../harness/make-signup.ts'
import { reserveAll } from './journal-child.ts'
import { withProcess } from './two-processes.ts'

const noon = Date.UTC(2026, 10, 20, 12)
const idempotency = { space: '', key: 'order-1', fingerprint: 'A' }

test('a signup that another process has appended can be found and frozen, even after that process was killed', () =>
  withProcess(async (here, other) => {
    const signup = makeSignup()
    await other.append([signup])
    expect(await here.reader.backlog()).toBe(1)
    await other.kill()
    expect(await here.intake.find(signup.id)).toMatchObject({ id: signup.id, position: 1 })
    expect((await freezeNext(here.delivery))?.tabs[0]?.signups).toEqual([signup])
  }))

test('when two processes append at once, every signup is kept at a position of its own', () =>
  withProcess(async (here, other) => {
    const appends = makeSignups(100).map((signup, index) =>
      index % 2 === 0 ? here.intake.append([signup]) : other.append([signup]),
    )
    const answers = await Promise.all(appends)
    const positions = answers.flatMap((answer) =>
      'results' in answer ? answer.results.map((result) => result?.position) : [],
    )
    expect(new Set(positions).size).toBe(100)
    expect(await here.reader.backlog()).toBe(100)
    expect(await other.backlog()).toBe(100)
  }))

test('a request that one process has answered gets the same answer from the other', () =>
  withProcess(async (here, other) => {
    const first = await other.append([makeSignup()], { idempotency })
    expect(await here.intake.knows(idempotency)).toBe(true)
    expect(await here.intake.recall(idempotency)).toEqual({ ...first, kind: 'replayed' })
    expect(await here.intake.append([makeSignup()], { idempotency })).toEqual({
      ...first,
      kind: 'replayed',
    })
    expect(await here.reader.backlog()).toBe(1)
  }))

test('when two processes append with one key or token at once, one signup is added', () =>
  withProcess(async (here, other) => {
    for (let round = 0; round < 20; round++) {
      const keyed = { idempotency: { ...idempotency, key: `order-${round}` } }
      const token = { token: `token ${round}` }
      const replays = [
        here.intake.append([makeSignup()], keyed),
        other.append([makeSignup()], keyed),
      ]
      const used = [here.intake.append([makeSignup()], token), other.append([makeSignup()], token)]
      const kinds = async (answers: typeof used) =>
        (await Promise.all(answers)).map(({ kind }) => kind).sort()
      expect(await kinds(replays)).toEqual(['appended', 'replayed'])
      expect(await kinds(used)).toEqual(['appended', 'tokenUsed'])
    }
    expect(await here.reader.backlog()).toBe(40)
  }))

test('two processes together make no more new tabs than the limit allows', () =>
  withProcess(
    async (here, other) => {
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, index) => {
          const signups = [makeSignup({ sheetTab: `Tab ${index}` })]
          return index % 2 === 0 ? here.intake.append(signups) : other.append(signups)
        }),
      )
      const taken = answers.flatMap((answer) =>
        'results' in answer ? answer.results.filter((result) => result !== undefined) : [],
      )
      expect(taken).toHaveLength(6)
      expect(await here.reader.backlog()).toBe(6)
      expect(await other.takesTab('One more', noon)).toBe(false)
      for (const { sheetTab } of taken) {
        expect(await here.intake.takesTab(sheetTab, noon)).toBe(true)
        expect(await other.takesTab(sheetTab, noon)).toBe(true)
      }
    },
    { newTabsMax: 6 },
  ))

test('a batch that one process has frozen is seen by the other, which can settle it', () =>
  withProcess(async (here, other) => {
    const signup = makeSignup()
    await here.intake.append([signup])
    const batch = await freezeNext(here.delivery)
    expect(await other.frozenBatch()).toEqual(batch)
    await expect(other.freezeNext()).rejects.toThrow('frozen already')
    await other.settle(batch?.number ?? 0, noon)
    expect(await here.delivery.frozenBatch()).toBeUndefined()
    expect((await here.intake.find(signup.id))?.writtenAt).toBe(noon)
  }))

test('two processes that reserve calls at once stay within the quota together, and use all of it', () =>
  withProcess(async (here, other) => {
    const account = 'robot@example.com'
    // An answer shows that the other process has started.
    await other.backlog()
    for (const quota of [
      { perMinute: 300, perDay: 10_000 },
      { perMinute: 10_000, perDay: 600 },
    ]) {
      const whose = `${account} ${quota.perMinute}`
      const counts = await Promise.all([
        reserveAll(here, whose, quota),
        other.reserveAll(whose, quota),
      ])
      expect(counts[0] + counts[1]).toBe(Math.min(quota.perMinute, quota.perDay))
      expect(Math.min(...counts), 'both had a part in it').toBeGreaterThan(0)
    }
  }))
