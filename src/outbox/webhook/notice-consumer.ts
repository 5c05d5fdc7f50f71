import type { Clock } from '../../platform/clock.ts'
import type { HttpClient } from '../../platform/http-client.ts'
import type { Consumer } from '../sender.ts'
import { type Receiver, sendMessage } from './send.ts'

/**
 * Sends notices to the operator's receiver, in order.
 *
 * @param time the wall clock that signatures tell
 */
export function noticeConsumer(
  receiver: Receiver,
  http: HttpClient,
  time: Pick<Clock, 'now'>,
): Consumer {
  return {
    order: { kinds: ['notice'], inOrder: true },
    atOnce: 1,
    async send(message, { signal }) {
      const sent = await sendMessage(receiver, message, { http, clock: time }, signal)
      return signal.aborted && sent.kind !== 'sent' ? { kind: 'unsent' } : sent
    },
    [Symbol.asyncDispose]: async () => undefined,
  }
}
