/** Whether signups reach the spreadsheet. */
export type DeliveryHealth =
  | { readonly state: 'ok' }
  | { readonly state: 'blocked'; readonly error: string; readonly hint: string }

/** Whether signups can be stored. */
export type JournalHealth = { readonly state: 'ok' } | { readonly state: 'unavailable' }

/** How the service is, as of the last event. Written by `events.ts`, read by `/api/ready` and the 202. */
export interface Health {
  journal: JournalHealth
  delivery: DeliveryHealth
  /** What keeps single tabs from being written, by `tabKey`. */
  readonly tabs: Map<string, string>
  /** What the operator should know while rows still go in. */
  warnings: readonly string[]
}

export function createHealth(): Health {
  return { journal: { state: 'ok' }, delivery: { state: 'ok' }, tabs: new Map(), warnings: [] }
}
