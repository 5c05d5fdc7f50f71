import { type Journal, JournalUnavailable } from '../journal/journal.ts'
import type { Events } from '../ops/events.ts'
import type { Health } from '../ops/health.ts'
import type { Clock } from '../platform/clock.ts'
import { type ParsedSignup, parseForm, parseSignup } from '../signup/parse.ts'
import { type Receipt, type SignupId, tabKey } from '../signup/signup.ts'
import { readBody } from './body.ts'
import { accepted, refuse } from './respond.ts'

export interface SignupIntake {
  readonly journal: Journal
  readonly events: Events
  readonly health: Health
  readonly clock: Clock
  /** A fresh UUIDv7. */
  readonly newId: () => SignupId
  readonly defaultTab: string
  readonly bodyBytesMax: number
}

/** `POST /api/signup`: from the request to the answer. */
export async function postSignup(request: Request, intake: SignupIntake): Promise<Response> {
  const { defaultTab, bodyBytesMax } = intake
  const body = await readBody(request, bodyBytesMax)
  const parsed =
    body.kind === 'form'
      ? parseForm(body.fields, { defaultTab, source: 'form' })
      : parseSignup(body.value, { defaultTab, source: 'api' })
  if (!parsed.ok) throw refuse.fields(parsed.problems)
  const receipt = await store(parsed.value, intake) // Durable from here on: the visitor may leave.
  return accepted(receipt, blockedBy(intake.health, receipt.sheetTab))
}

async function store(parsed: ParsedSignup, intake: SignupIntake): Promise<Receipt> {
  const { journal, events, clock, newId } = intake
  const { email, sheetTab, source, name, tags, metadata } = parsed
  const signup = {
    id: newId(),
    receivedAt: clock.now(),
    email,
    sheetTab,
    source,
    name,
    tags,
    metadata,
  }
  try {
    const [receipt] = await journal.append([signup])
    if (!receipt) throw new Error('The journal gave no receipt.')
    events.signupsAccepted(1)
    return receipt
  } catch (error) {
    if (!(error instanceof JournalUnavailable)) throw error
    events.journalUnavailable(error)
    throw refuse.journalUnavailable()
  }
}

/** What keeps rows of this tab from the spreadsheet until the operator mends it. */
function blockedBy(health: Health, tab: string): string | undefined {
  if (health.delivery.state === 'blocked') return health.delivery.error
  return health.tabs.get(tabKey(tab))
}
