import { Webhook } from 'standardwebhooks'
import { expect, test } from 'vitest'

import { isDue, newMessage, pauseMs } from './attempt.ts'
import { signatureOf } from './sign.ts'

test('pauses grow from 5 seconds to 2 hours, and up to half of each is left to chance', () => {
  const pauses = [1, 2, 3, 10, 12, 100].map((tries) => pauseMs(tries, () => 1) / 1000)
  expect(pauses).toEqual([5, 10, 20, 2560, 7200, 7200])
  expect(pauseMs(1, () => 0)).toBe(2500)
})

test('a message waits for its next try, but not for longer when the wall clock was set back', () => {
  const message = { ...newMessage({ id: 'a', body: '{}' }, 0), nextAt: 9 * 3_600_000 }
  const hours = [0, 6, 7.5, 9].map((hour) => isDue(message, hour * 3_600_000))
  expect(hours).toEqual([true, true, false, true])
})

test('a signature is the one that the library of Standard Webhooks makes', async () => {
  const key = crypto.getRandomValues(new Uint8Array(32))
  const expected = new Webhook(key, { format: 'raw' }).sign('msg_1', new Date(5000), '{"a":"ü"}')
  expect(await signatureOf(key, 'msg_1', 5, '{"a":"ü"}')).toBe(expected)
})
