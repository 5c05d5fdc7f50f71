import { expect, test } from 'vitest'

import { webhookIdOf } from './endpoint.ts'

test('the id of a message is its own for endpoint, signup and event, and the same in all releases', () => {
  const url = 'https://hooks.example.com/a'
  const ids = [
    webhookIdOf(url, 'id-1', 'signup.accepted'),
    webhookIdOf(url, 'id-1', 'signup.erased'),
    webhookIdOf(url, 'id-2', 'signup.accepted'),
    webhookIdOf(`${url}b`, 'id-1', 'signup.accepted'),
  ]
  expect(new Set(ids).size).toBe(4)
  // A receiver that has it would take another one for a new signup.
  expect(ids[0]).toBe('msg_lC94iKYWC-W4BXzmZlXLW0SYODrFzn-TBpsQKKw80qk')
})
