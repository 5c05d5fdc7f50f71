import { expect, test } from 'vitest'

import { limits } from '../signup/limits.ts'
import { contentOf, fingerprintOf, ownedKey, Turns } from './idempotency.ts'

const signup = {
  email: 'ada@example.com',
  sheetTab: 'News',
  source: 'api',
  name: '',
  tags: ['a', 'b'],
  metadata: '{"k":1}',
  fields: {},
}

const keyIn = (headers: Record<string, string>, apiKey?: string) =>
  ownedKey(new Request('http://a.example', { headers }), { apiKey })

test.each(['a', 'x'.repeat(255), '01990b6e-1d1c-7c3f-8f0e-5d2a8c1b7e42', '"quoted"', 'a b, c~'])(
  'the Idempotency-Key %s is accepted unchanged',
  (key) => {
    expect(keyIn({ 'idempotency-key': key })).toEqual({ space: '', key })
  },
)

test.each(['', 'x'.repeat(256), 'schlüssel', 'a\tb'])(
  'the Idempotency-Key %j is refused',
  (key) => {
    expect(() => keyIn({ 'idempotency-key': key })).toThrow(/1 to 255 printable ASCII/)
  },
)

test('each API key has its own name space, and all clients without one share a name space', () => {
  const header = { 'idempotency-key': 'one' }
  expect(keyIn({})).toBeUndefined()
  expect(keyIn(header)).toEqual(keyIn(header))
  expect(keyIn(header, 'digest')).toEqual({ space: 'digest', key: 'one' })
})

test('the content of a signup is the row, without the token and without the case of the tab', () => {
  const again = { ...signup, sheetTab: 'NEWS', challengeToken: 'token', redirect: '/thanks' }
  expect(contentOf(again)).toEqual(contentOf(signup))
  for (const change of [
    { email: 'Ada@example.com' },
    { sheetTab: 'Events' },
    { source: 'form' },
    { name: 'Ada' },
    { tags: ['a, b'] },
    { metadata: '' },
    { fields: { seats: 3 } },
  ]) {
    expect(contentOf({ ...signup, ...change })).not.toEqual(contentOf(signup))
  }
})

test('fields count in any order, and a signup without fields has the content of earlier versions', () => {
  const content = contentOf({ ...signup, fields: { seats: 3, news: true } })
  expect(contentOf({ ...signup, fields: { news: true, seats: 3 } })).toEqual(content)
  expect(contentOf({ ...signup, fields: { news: true, seats: '3' } })).not.toEqual(content)
  expect(contentOf(signup)).toEqual(['ada@example.com', 'news', 'api', '', ['a', 'b'], '{"k":1}'])
})

test('the order of keys in metadata does not matter, but that of a list does', () => {
  const content = (metadata: string) => contentOf({ ...signup, metadata })
  const given = '{"b":1,"__proto__":{"d":[{"y":1,"x":2}],"c":3},"10":4,"a":5}'
  const other = '{"10":4,"a":5,"__proto__":{"c":3,"d":[{"x":2,"y":1}]},"b":1}'
  expect(content(other)).toEqual(content(given))
  for (const change of [given.replace('5', '6'), '{"b":1,"10":4,"a":5}']) {
    expect(content(change)).not.toEqual(content(given))
  }
  expect(content('{"a":[1,2]}')).not.toEqual(content('{"a":[2,1]}'))
})

test('metadata that is nested as deeply as its limit allows has a content', () => {
  const depth = limits.metadataDepthMax - 1
  const metadata = `{"b":1,"a":${'['.repeat(depth)}${']'.repeat(depth)}}`
  expect(contentOf({ ...signup, metadata })).toContain(
    `{"a":${'['.repeat(depth)}${']'.repeat(depth)},"b":1}`,
  )
})

test('different routes or contents give different fingerprints, and equal ones the same', () => {
  const printOf = (route: string, content: readonly unknown[]) => fingerprintOf(route, content)
  const prints = [
    printOf('signup', contentOf(signup)),
    printOf('bulk', contentOf(signup)),
    printOf('bulk', [contentOf(signup)]),
    printOf('bulk', [contentOf(signup), contentOf(signup)]),
  ]
  expect(new Set(prints).size).toBe(4)
  expect(printOf('signup', contentOf({ ...signup }))).toBe(prints[0])
  expect(prints[0]).toMatch(/^[\w+/]{43}=$/)
})

const a = { space: '', key: 'a' }
const anybody = undefined

test('work with one key runs in order, even after a failure; work with other keys goes on', async () => {
  const turns = new Turns()
  const done: string[] = []
  const first = Promise.withResolvers<undefined>()
  const failing = turns.take(a, anybody, async () => {
    await first.promise
    done.push('a1')
    throw new Error('no')
  })
  const second = turns.take(a, anybody, async () => done.push('a2'))
  const third = turns.take(a, anybody, async () => done.push('a3'))
  expect(turns.has(a)).toBe(true)
  await turns.take({ space: '', key: 'b' }, anybody, async () => done.push('b1'))
  await turns.take({ space: 'x', key: 'a' }, anybody, async () => done.push('x1'))
  expect(done).toEqual(['b1', 'x1'])
  first.resolve(undefined)
  await expect(failing).rejects.toThrow('no')
  await Promise.all([second, third])
  expect(done).toEqual(['b1', 'x1', 'a1', 'a2', 'a3'])
  expect(turns.has(a)).toBe(false)
})

test('a third request waits until the second one has ended', async () => {
  const turns = new Turns()
  const [first, second] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()]
  const done: string[] = []
  const working = turns.take(a, anybody, () => first.promise)
  const waiting = turns.take(a, anybody, async () => {
    await second.promise
    done.push('second')
  })
  first.resolve(undefined)
  await working
  expect(turns.has(a)).toBe(true)
  const last = turns.take(a, anybody, async () => done.push('third'))
  second.resolve(undefined)
  await Promise.all([waiting, last])
  expect(done).toEqual(['second', 'third'])
})

test('the number of waiting requests is limited, by address and in all; more are refused at once', async () => {
  const turns = new Turns({ max: 5, clientMax: 2 })
  const first = Promise.withResolvers<undefined>()
  const work = () => first.promise
  const answers = ['one', 'one', 'one', 'one', 'two', anybody, anybody, anybody, anybody].map(
    (address) => turns.take(a, address, work).then(String, (error: unknown) => error),
  )
  const other = turns.take({ space: '', key: 'b' }, 'one', async () => 'at once')
  expect(await other).toBe('at once')
  first.resolve(undefined)
  const refused = expect.objectContaining({ status: 503, headers: ['retry-after', '2'] })
  const taken = 'undefined'
  const ofOne = [taken, taken, taken, refused]
  expect(await Promise.all(answers)).toEqual([...ofOne, taken, taken, taken, refused, refused])
  expect(await turns.take(a, 'one', async () => 'free again')).toBe('free again')
})

test('a request that no longer waits leaves its place to another one', async () => {
  const turns = new Turns({ max: 1, clientMax: 1 })
  for (let count = 0; count < 3; count++) {
    const first = Promise.withResolvers<undefined>()
    const working = turns.take(a, 'one', () => first.promise)
    const waiting = turns.take(a, 'one', async () => 'ok')
    first.resolve(undefined)
    await working
    expect(await waiting).toBe('ok')
  }
})
