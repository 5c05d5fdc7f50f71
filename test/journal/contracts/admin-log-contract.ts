import { expect } from 'vitest'

import type { AdminLog, Work } from '../../../src/journal/tables/admin-log.ts'
import type { SitesWorld } from '../second-site.ts'
import type { ContractTest } from './contract.ts'

const hour = 3_600_000
const noon = Date.UTC(2026, 10, 20, 12)
const site = new Map([['default', {}]])

/** Runs with the logs of two instances on one store. */
function inTwoInstances(
  work: (one: AdminLog, other: AdminLog) => Promise<void>,
): ContractTest<SitesWorld>['run'] {
  return async (world) => {
    await using one = await world.openSites(site)
    await using other = await world.openSites(site)
    await work(one.admin, other.admin)
  }
}

function loginOf(digest: string, madeAt = noon) {
  return { digest, token: 'digest of the token', madeAt, seenAt: madeAt }
}

function workOf(id: string, at = 0): Work {
  const madeAt = noon + at
  return { id, kind: 'erase', madeAt, seenAt: madeAt, state: 'running', done: 0, report: '' }
}

/** Who is signed in, and what works, on all instances. */
export const adminLogTests: readonly ContractTest<SitesWorld>[] = [
  {
    title: 'a login holds on every instance until one of them ends it',
    run: inTwoInstances(async (one, other) => {
      await one.signIn(loginOf('ada'), noon - hour)
      await other.signIn(loginOf('bob'), noon - hour)
      expect(await other.login('ada')).toEqual(loginOf('ada'))
      await other.seen('ada', noon + 5)
      expect(await one.login('ada')).toEqual({ ...loginOf('ada'), seenAt: noon + 5 })
      await other.signOut('ada')
      expect(await one.login('ada')).toBeUndefined()
      expect(await one.login('bob')).toEqual(loginOf('bob'))
    }),
  },

  {
    title: 'a login outlasts a restart',
    run: async (world) => {
      {
        await using before = await world.openSites(site)
        await before.admin.signIn(loginOf('ada'), noon - hour)
      }
      await using after = await world.openSites(site)
      expect(await after.admin.login('ada')).toEqual(loginOf('ada'))
    },
  },

  {
    title: 'a sign-in drops the logins that are over, and no others',
    run: inTwoInstances(async (one, other) => {
      await one.signIn(loginOf('over', noon - hour - 1), 0)
      await one.signIn(loginOf('holds', noon - hour), 0)
      await other.signIn(loginOf('new'), noon - hour)
      expect(await one.login('over')).toBeUndefined()
      expect(await one.login('holds')).toBeDefined()
    }),
  },

  {
    title: 'what is noted of a login that has ended brings it not back',
    run: inTwoInstances(async (one, other) => {
      await one.signIn(loginOf('ada'), 0)
      await one.signOut('ada')
      await other.seen('ada', noon)
      await other.signOut('nobody')
      expect(await other.login('ada')).toBeUndefined()
    }),
  },

  {
    title: 'work is told as it was noted last, on every instance, the newest first',
    run: inTwoInstances(async (one, other) => {
      await one.noteWork(workOf('older'))
      await other.noteWork(workOf('newer', 1))
      const done: Work = {
        ...workOf('older'),
        ...{ seenAt: noon + 9, state: 'done', done: 20_000, report: 'All erased.\nOne was kept.' },
      }
      await other.noteWork(done)
      expect(await one.work()).toEqual([workOf('newer', 1), done])
    }),
  },

  {
    title: 'the last hundred pieces of work are kept, and the oldest goes first',
    run: inTwoInstances(async (one, other) => {
      const noted = Array.from({ length: 103 }, (_, at) => workOf(`work ${at}`, at))
      for (const [at, work] of noted.entries()) await (at % 2 === 0 ? one : other).noteWork(work)
      expect(await one.work()).toEqual(noted.slice(3).toReversed())
      // One that was dropped and is noted again is still the oldest.
      await other.noteWork(workOf('work 0', 0))
      expect(await one.work()).toEqual(noted.slice(3).toReversed())
    }),
  },
]
