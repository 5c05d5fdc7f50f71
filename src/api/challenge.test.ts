import { expect, test } from 'vitest'
import { Client } from '../http/client.ts'
import { Puzzles } from './challenge.ts'

function from(remoteAddress: string) {
  const client = new Client({ remoteAddress, forwardedFor: null, trustedProxies: 0 })
  return { client, take: () => {} }
}

test('a client gets its share of the puzzles that are made at the same time, others get theirs, and what is made is given back', async () => {
  const puzzles = new Puzzles()
  const { promise: made, resolve: make } = Promise.withResolvers<object>()
  const ask = (address: string) => puzzles.answer(from(address), () => made)
  const waiting = Array.from({ length: 32 }, () => ask('192.0.2.1'))
  const tooMany = { kind: 'tooManyPuzzles', status: 503, headers: ['retry-after', '1'] }
  await expect(ask('192.0.2.1')).rejects.toMatchObject(tooMany)
  waiting.push(...Array.from({ length: 32 }, () => ask('192.0.2.2')))
  // A private address may be a proxy with many clients behind it.
  waiting.push(...Array.from({ length: 192 }, () => ask('10.0.0.1')))
  await expect(ask('192.0.2.3')).rejects.toMatchObject(tooMany)
  make({})
  expect(await Promise.all(waiting)).toHaveLength(256)
  expect(await ask('192.0.2.1')).toMatchObject({ status: 200 })
})

test('a puzzle that could not be made takes no room', async () => {
  const puzzles = new Puzzles()
  const failing = async () => {
    throw new Error('no key')
  }
  for (let asked = 0; asked < 40; asked++) {
    await expect(puzzles.answer(from('192.0.2.1'), failing)).rejects.toThrow('no key')
  }
})
