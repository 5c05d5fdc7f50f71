import { expect, test } from 'vitest'
import { deliveryState } from './trouble.ts'

test.each([
  ['ok', [], 'ok'],
  ['delayed', [], 'delayed'],
  ['ok', ['News'], 'partly blocked'],
  ['delayed', ['News'], 'partly blocked'],
  ['blocked', ['News'], 'blocked'],
] as const)('delivery that is %s with the tabs %j set aside is %s', (state, tabs, inAll) => {
  expect(deliveryState({ delivery: { state }, tabs })).toBe(inAll)
})
