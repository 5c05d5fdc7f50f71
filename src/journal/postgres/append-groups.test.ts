import { expect, test } from 'vitest'
import { makeSignups } from '../../../harness/make-signup.ts'
import type { Appended } from '../contracts/intake-log.ts'
import type { AppendRequest } from '../tables/intake.ts'
import { AppendGroups } from './append-groups.ts'
import { DataRefused } from './failure.ts'

const appended: Appended = { kind: 'appended', results: [] }

/** Groups that wait for `answer`, and what was sent so far. */
function groups(isAlone: (request: AppendRequest) => boolean = () => false) {
  const sent: (readonly AppendRequest[])[] = []
  const answers: (() => void)[] = []
  const log = new AppendGroups({
    isAlone,
    commit: (group) =>
      new Promise((resolve) => {
        sent.push(group)
        answers.push(() => {
          if (group.length > 1 && group.some(({ terms }) => terms.token === 'refused')) {
            resolve(group.map(() => ({ status: 'rejected', reason: new DataRefused('refused') })))
          } else resolve(group.map(() => ({ status: 'fulfilled', value: appended })))
        })
      }),
  })
  const answer = async () => {
    while (answers.length > 0) {
      answers.splice(0).forEach((resolve) => resolve())
      await turn()
    }
  }
  return { log, sent, answer }
}

const turn = () => new Promise((resolve) => setTimeout(resolve, 1))

function request(terms: AppendRequest['terms'] = {}, count = 1): AppendRequest {
  return { signups: makeSignups(count), terms }
}

const withKey = (key: string) => request({ idempotency: { space: '', key, fingerprint: '' } })

/** How many requests each group has that these make together. */
async function sizes(requests: readonly AppendRequest[], isAlone?: (it: AppendRequest) => boolean) {
  const { log, sent, answer } = groups(isAlone)
  const added = Promise.all(requests.map((it) => log.add(it)))
  await turn()
  await answer()
  await added
  return sent.map((group) => group.length)
}

test('requests of one turn share a group of at most 1,000 signups, unless one has more', async () => {
  expect(await sizes([request(), request(), request()])).toEqual([3])
  expect(await sizes([request({}, 600), request({}, 400), request()])).toEqual([2, 1])
  expect(await sizes([request({}, 1_500), request()])).toEqual([1, 1])
})

test('a group has no key and no token twice', async () => {
  expect(await sizes([withKey('a'), withKey('b'), withKey('a'), withKey('c')])).toEqual([2, 2])
  const [one, other] = [request({ token: 'one' }), request({ token: 'other' })]
  expect(await sizes([one, other, one])).toEqual([2, 1])
})

test('a request that must be alone is alone', async () => {
  const alone = request()
  expect(await sizes([request(), alone, request()], (it) => it === alone)).toEqual([1, 1, 1])
})

test('two groups are on their way at most, and later requests share the next one', async () => {
  const { log, sent, answer } = groups()
  const first = log.add(request())
  await turn()
  const second = log.add(request())
  await turn()
  const later = [log.add(request()), log.add(request())]
  await turn()
  expect(sent.map((group) => group.length)).toEqual([1, 1])
  await answer()
  await Promise.all([first, second, ...later])
  expect(sent.map((group) => group.length)).toEqual([1, 1, 2])
})

test('when the database refuses a value, the other requests of the group are committed without it', async () => {
  const refused = request({ token: 'refused' })
  expect(await sizes([request(), refused, request()])).toEqual([3, 1, 1, 1])
})
