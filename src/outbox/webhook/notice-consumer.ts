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
    kinds: ['notice'],
    atOnce: 1,
    inOrder: true,
    async send(message, { signal }) {
      const sent = await sendMessage(receiver, message, { http, clock: time }, signal)
      if (sent.kind === 'received') return { kind: 'sent' }
      if (signal.aborted) return { kind: 'unsent' }
      return { kind: sent.kind === 'gone' ? 'refused' : 'later', reason: sent.reason }
    },
    [Symbol.asyncDispose]: async () => undefined,
  }
}
