import type { WebhookFigures } from '../journal/contracts/webhook-log.ts'
import { isoOrNull } from '../platform/clock.ts'

/** How an endpoint does. Times are ISO 8601 in UTC. */
export type EndpointState = ReturnType<typeof endpointState>

/** @param found undefined when no service has run with it yet */
export function endpointState(found: WebhookFigures | undefined) {
  const times = [
    ['disabled', found?.disabledAt],
    ['halted', found?.haltedAt],
    ['failing', found?.failingSince],
  ] as const
  const known = times.find(([, at]) => at !== undefined)
  const [state, since] = known ?? [found ? 'ok' : 'unknown']
  return {
    ...{ state, since: isoOrNull(since), reason: known ? (found?.reason ?? null) : null },
    // All messages up to this position were sent or set aside.
    position: found?.cursor ?? null,
    ...{ waiting: found?.backlog ?? 0, oldest: isoOrNull(found?.oldest) },
    ...{ setAside: found?.aside ?? 0, givenUp: found?.failed ?? 0 },
  }
}

/** The same for people. */
export function endpointWords(it: EndpointState): string {
  const counts = { waiting: it.waiting, 'set aside': it.setAside, 'given up': it.givenUp }
  const told = Object.entries(counts).filter(([, count]) => count > 0)
  return [
    it.state === 'ok' ? 'works' : it.state,
    it.since !== null && ` since ${it.since}: ${it.reason ?? ''}`,
    ...told.map(([what, count]) => `; ${count.toLocaleString('en-US')} ${what}`),
    it.oldest !== null && `; the oldest of ${it.oldest}`,
    it.position !== null && `; sent up to position ${it.position}`,
  ]
    .filter((word) => word !== false)
    .join('')
}
