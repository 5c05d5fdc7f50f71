/**
 * The reasons why the spreadsheet refuses rows until a person acts, in words that may be public.
 * The provider's own text, hints, addresses, folders and names go only to the log.
 */
export const refusalWords = {
  permission: 'The caller does not have permission',
  notFound: 'Requested entity was not found',
  credentials: 'Invalid Credentials',
  tokenLife: 'The access token may live for more than an hour',
  machine: 'The metadata server of this machine gives no access token',
  apiDisabled: 'The Google Sheets API is not enabled',
  noSpreadsheet: 'The document is not a Google spreadsheet',
  notTheApi: 'The answer is not from the Sheets API',
  full: 'The spreadsheet is full',
  fence: 'The spreadsheet cannot keep double rows out',
  protectedTab: 'The tab is protected',
  tabName: 'Another tab has the same name',
  noCells: 'The tab has no cells',
  tabFile: 'The file of the tab cannot be written',
  folder: 'The folder of the workbook cannot be written',
  diskFull: 'The disk is full',
  disk: 'The disk reports an error',
  record: "The workbook's own record is damaged",
  other: 'The spreadsheet refuses the rows',
} as const

/** What is public of a delay that may pass without help, and of one whose reason is unknown. */
export const delayWords = {
  delayed: 'The spreadsheet does not accept rows just now; Rollcall keeps trying',
  unknown: 'No reason is known yet',
} as const

export type RefusalReason = keyof typeof refusalWords

/** Problems of the spreadsheet that do not stop rows from being written, in words that may be public. */
export const warningWords = {
  nearlyFull: 'The spreadsheet is nearly full',
  columns: 'A tab has columns of its own',
  changed: 'A tab was changed while rows were written',
} as const

export interface Warning {
  readonly kind: keyof typeof warningWords
  /** For the log: what is wrong and what to do. */
  readonly message: string
}

/** Whether signups reach the spreadsheet. */
export type DeliveryHealth =
  | { readonly state: 'ok' }
  /** Fails for a reason that may pass without help. */
  | { readonly state: 'delayed'; readonly error: string }
  /** Fails until a person acts. */
  | ({ readonly state: 'blocked' } & Trouble)

/** A problem that only a person can fix. `reason` may be public; the rest is for the operator only. */
export interface Trouble {
  readonly reason: RefusalReason
  readonly error: string
  readonly hint: string
}

export interface AsideTab extends Trouble {
  readonly name: string
  /** How to find the tab without its name, which may be a visitor's text. */
  readonly place: string
}

/**
 * Why rows wait for a person, in words that may be public; undefined when they do not.
 *
 * @param aside a tab that is set aside
 */
export function blockedWords(
  delivery: DeliveryHealth,
  aside: Pick<Trouble, 'reason'> | undefined,
): string | undefined {
  const trouble = delivery.state === 'blocked' ? delivery : aside
  return trouble && refusalWords[trouble.reason]
}

/** How delivery fares, in one word: readiness, `status`, `doctor` and the metrics have the same. */
export const deliveryStates = ['ok', 'delayed', 'partly blocked', 'blocked'] as const
export type DeliveryState = (typeof deliveryStates)[number]

/** @param fares with the tabs that are set aside: their signups wait for a person, and others are written */
export function deliveryState(fares: {
  readonly delivery: { readonly state: Exclude<DeliveryState, 'partly blocked'> }
  readonly tabs: Iterable<unknown>
}): DeliveryState {
  const { state } = fares.delivery
  if (state === 'blocked') return state
  for (const _ of fares.tabs) return 'partly blocked'
  return state
}
