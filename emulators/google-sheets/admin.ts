import { z } from 'zod'
import { runAction } from './admin-actions.ts'
import { jsonAnswer, type Answer } from './answer.ts'
import { ApiError } from './api-error.ts'
import type { EmulatedGoogle } from './emulator.ts'
import { isFaultAnswer, type FaultAnswer } from './fault-answers.ts'
import type { Fault } from './faults.ts'
import { callKinds } from './route.ts'

/** The emulator, and the calls that faults hold back. */
export interface AdminSubject extends EmulatedGoogle {
  readonly lateCount: number
  releaseLate(): number
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

/** The emulator's own API under `/emulator`, for people who try things out in the sandbox. */
export function answerAdmin(
  google: AdminSubject,
  method: string,
  target: URL,
  body: string,
): Answer {
  try {
    const given: unknown = body.trim() === '' ? [] : JSON.parse(body)
    return jsonAnswer(200, runAdmin(google, method, target, given))
  } catch (error) {
    if (error instanceof ApiError) return jsonAnswer(error.code, { error: error.message })
    if (error instanceof z.ZodError) return jsonAnswer(400, { error: z.prettifyError(error) })
    return jsonAnswer(400, { error: error instanceof Error ? error.message : String(error) })
  }
}

function runAdmin(google: AdminSubject, method: string, target: URL, given: unknown): unknown {
  const [, , collection = '', id = '', action = ''] = target.pathname
    .split('/')
    .map(decodeURIComponent)
  switch (`${method} ${collection}`.trim()) {
    case 'GET':
      return overview(google)
    case 'GET calls': {
      const kind = target.searchParams.get('kind')
      return google.log.calls().filter((call) => kind === null || call.kind === kind)
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
      return { applied: google.releaseLate() }
    case 'DELETE tokens':
      google.tokens.expireAll()
      return {}
    case 'POST spreadsheets':
      return runAction(google, id, action, given)
    case 'GET spreadsheets':
      return { rows: google.spreadsheet(id).rows(target.searchParams.get('tab') ?? '') }
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

function overview(google: AdminSubject): unknown {
  return {
    counters: google.counters,
    faults: google.faults.pending,
    late: google.lateCount,
    spreadsheets: [...google.model.spreadsheets.keys()].map((id) => {
      const spreadsheet = google.spreadsheet(id)
      return { id, tabs: spreadsheet.titles(), metadata: spreadsheet.metadata() }
    }),
  }
}
