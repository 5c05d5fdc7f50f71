import { stampField } from '../src/signup/filter-fields.ts'
import { ask } from './service.ts'

/** A stamp is good for a day. This leaves the visitor many hours to fill in the form. */
const newAfterMs = 3_600_000

/** The service's signed time at which somebody began to fill in the form. */
export function createStamp(endpoint: string) {
  let stamp = ''
  let askedAt = 0
  return {
    /** Asks for a stamp at the first focus, and for a new one at a focus an hour later. Never rejects. */
    refresh: async (): Promise<void> => {
      if (Date.now() - askedAt < newAfterMs) return
      askedAt = Date.now()
      try {
        const answer = await ask(endpoint, 'stamp')
        stamp = ((await answer.json()) as { stamp?: string }).stamp ?? stamp
      } catch {
        // A signup without a stamp is as good.
      }
    },
    /** The same fields with the stamp. Without a stamp of our own, that of the page stays. */
    on: (data: URLSearchParams): URLSearchParams => {
      const stamped = new URLSearchParams(data)
      if (stamp) stamped.set(stampField, stamp)
      return stamped
    },
  }
}
