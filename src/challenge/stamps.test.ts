import { expect, test } from 'vitest'
import { ManualClock } from '../../harness/manual-clock.ts'
import { day, second } from '../platform/clock.ts'
import { hmacWith } from '../platform/digest.ts'
import { Stamps } from './stamps.ts'

function site(key = 1, clock = new ManualClock()) {
  return { clock, stamps: new Stamps(hmacWith(new Uint8Array(32).fill(key)), clock) }
}

test.each([
  [-10 * second - 1, false],
  [-10 * second, true],
  [-1, true],
  [0, false],
  [2 * second - 1, false],
  [2 * second, true],
  [day, true],
  [day + 1, false],
])('a stamp that is %d ms old is good: %s', (age, isGood) => {
  const { clock, stamps } = site()
  const stamp = stamps.make()
  clock.jump(age)
  expect(stamps.isGood(stamp)).toBe(isGood)
})

test('a stamp is good any number of times, and at another instance with the same key', () => {
  const { clock, stamps } = site()
  const stamp = stamps.make()
  clock.jump(5 * second)
  expect([stamps.isGood(stamp), stamps.isGood(stamp)]).toEqual([true, true])
  expect(site(1, clock).stamps.isGood(stamp)).toBe(true)
})

test('a stamp of another key is wrong, and so is one with another time or a changed signature', () => {
  const { clock, stamps } = site()
  const stamp = stamps.make()
  clock.jump(5 * second)
  expect(site(2, clock).stamps.isGood(stamp)).toBe(false)
  const [time = '', signature = ''] = stamp.split('.')
  const earlier = (clock.now() - 60 * second).toString(36)
  const other = signature.startsWith('A') ? 'B' : 'A'
  const forged = [
    `${earlier}.${signature}`,
    `${time}.${other}${signature.slice(1)}`,
    `${time}.${signature.slice(1)}`,
    `${time}.`,
    `0${time}.${signature}`,
    `${stamp}x`,
    '',
    '.',
    'x'.repeat(101),
  ]
  for (const text of forged) expect(stamps.isGood(text), text).toBe(false)
})

test('a stamp is short, and has only signs that need no escape', () => {
  expect(site().stamps.make()).toMatch(/^[\w.-]{30,40}$/)
})
