import { z } from 'zod'
import { runAction } from './admin-actions.ts'
import { jsonAnswer, type Answer } from './answer.ts'
import { ApiError } from './api-error.ts'
import type { Deliveries } from './deliveries.ts'
import type { EmulatedGoogle } from './emulator.ts'
import { isFaultAnswer, type FaultAnswer } from './fault-answers.ts'
import type { Fault } from './faults.ts'
import { callKinds } from './route.ts'

export interface AdminSubject {
  readonly google: EmulatedGoogle
  readonly deliveries: Deliveries
}

const count = z.number().int().nonnegative()
const answerSchema = z.union([
  z.enum(['real', 'drop', 'truncated', 'cutOff']),
  z.custom<FaultAnswer>(
    (name) => typeof name === 'string' && isFaultAnswer(name),
    'unknown answer',
  ),
  z
    .object({
      status: z.number().int(),
      headers: z.record(z.string(), z.string()),
      body: z.string(),
    })
    .partial()
    .strict(),
])
const faultSchema = z
  .object({
    on: z.union([z.enum(['read', 'write', 'any', ...callKinds]), z.array(z.enum(callKinds))]),
    spreadsheetId: z.string(),
    skip: count,
    times: count,
    probability: z.number().min(0).max(1),
    apply: z.enum(['never', 'now', 'later', 'twice']),
    applyAfterMs: count,
    answer: answerSchema,
    answerOf: z.enum(['first', 'second']),
    delayMs: count,
  })
  .partial()
  .strict()
const faultsSchema = z.union([z.array(faultSchema), faultSchema.transform((fault) => [fault])])
const accountSchema = z
  .object({ email: z.string().min(3), project: z.string(), ownKey: z.boolean() })
  .partial()
  .strict()
const role = z.enum(['owner', 'editor', 'viewer'])
const spreadsheetSchema = z
  .object({
    id: z.string().min(1),
    title: z.string(),
    sharedWith: z.union([z.string(), z.array(z.string()), z.record(z.string(), role)]),
    sheets: z.array(z.object({ sheetId: count, title: z.string().min(1) })).min(1),
  })
  .partial()
  .strict()

/** The emulator's own API under `/emulator`: what tests of other languages and people use. */
export function answerAdmin(
  subject: AdminSubject,
  method: string,
  target: URL,
  body: string,
): Answer {
  try {
    const given: unknown = body.trim() === '' ? {} : JSON.parse(body)
    return jsonAnswer(200, runAdmin(subject, method, target, given))
  } catch (error) {
    if (error instanceof ApiError) return jsonAnswer(error.code, { error: error.message })
    if (error instanceof z.ZodError) return jsonAnswer(400, { error: z.prettifyError(error) })
    return jsonAnswer(400, { error: error instanceof Error ? error.message : String(error) })
  }
}

function runAdmin(subject: AdminSubject, method: string, target: URL, given: unknown): unknown {
  const { google, deliveries } = subject
  const [, , collection = '', id = '', action = ''] = target.pathname
    .split('/')
    .map(decodeURIComponent)
  switch (`${method} ${collection}`.trim()) {
    case 'GET':
      return overview(subject)
    case 'GET calls': {
      const kind = target.searchParams.get('kind')
      return google.calls().filter((call) => kind === null || call.kind === kind)
    }
    case 'DELETE calls':
      google.log.reset()
      return {}
    case 'GET faults':
      return google.faults.pending
    case 'POST faults':
      google.faults.add(...faultsSchema.parse(given).map(definedFault))
      return google.faults.pending
    case 'DELETE faults':
      google.faults.clear()
      return {}
    case 'POST late':
      return { applied: deliveries.releaseLate() }
    case 'DELETE tokens':
      google.tokens.expireAll()
      return {}
    case 'POST accounts': {
      const { email, ...options } = accountSchema.parse(given)
      return google.createServiceAccount(email, defined(options))
    }
    case 'DELETE accounts':
      google.tokens.remove(id)
      return {}
    case 'POST spreadsheets':
      if (id !== '') return runAction(google, id, action, given)
      return describe(google.createSpreadsheet(defined(spreadsheetSchema.parse(given))).id, google)
    case 'GET spreadsheets':
      return describe(id, google, target.searchParams.get('tab'))
    default:
      throw new ApiError(404, 'NOT_FOUND', `${method} ${target.pathname} is not part of this API.`)
  }
}

type Defined<T> = { [K in keyof T]: Exclude<T[K], undefined> }

/** Optional settings without those that are `undefined`. */
function defined<T extends object>(settings: T): Defined<T> {
  const entries = Object.entries(settings).filter(([, value]) => value !== undefined)
  return Object.fromEntries(entries) as Defined<T>
}

function definedFault({ answer, ...fault }: z.infer<typeof faultSchema>): Fault {
  const given = typeof answer === 'object' ? defined(answer) : answer
  return { ...defined(fault), ...(given === undefined ? {} : { answer: given }) }
}

function overview({ google, deliveries }: AdminSubject): unknown {
  return {
    counters: google.counters,
    faults: google.faults.pending,
    late: deliveries.lateCount,
    spreadsheets: [...google.model.spreadsheets.keys()].map((id) => describe(id, google)),
  }
}

function describe(id: string, google: EmulatedGoogle, tab: string | null = null): unknown {
  const spreadsheet = google.spreadsheet(id)
  if (tab !== null) return { rows: spreadsheet.rows(tab) }
  return {
    id: spreadsheet.id,
    tabs: spreadsheet
      .titles()
      .map((title) => ({ ...spreadsheet.tab(title), dataRows: spreadsheet.rowCount(title) })),
    metadata: spreadsheet.metadata(),
  }
}
