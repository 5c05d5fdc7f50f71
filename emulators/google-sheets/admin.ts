import { z } from 'zod'
import { jsonAnswer, type Answer } from './answer.ts'
import { ApiError } from './api-error.ts'
import type { EmulatedGoogle } from './emulator.ts'
import { isFaultAnswer, type FaultAnswer } from './fault-answers.ts'
import type { Fault } from './faults.ts'
import { callKinds } from './route.ts'
import type { SpreadsheetHandle } from './spreadsheet-handle.ts'

/** The emulator, and the calls that faults hold back. */
export interface AdminSubject extends EmulatedGoogle {
  releaseLate(): number
}

const count = z.number().int().nonnegative()
const faultSchema = z.strictObject({
  on: z.enum(['read', 'write', 'any', ...callKinds]).optional(),
  skip: count.optional(),
  times: count.optional(),
  apply: z.enum(['never', 'now', 'later', 'twice']).optional(),
  applyAfterMs: count.optional(),
  delayMs: count.optional(),
  answer: z
    .union([
      z.enum(['real', 'drop', 'truncated', 'cutOff']),
      z.custom<FaultAnswer>((name) => typeof name === 'string' && isFaultAnswer(name)),
    ])
    .optional(),
})

/** What people do to a spreadsheet: methods of `SpreadsheetHandle`. */
const deeds = [
  ...['renameTab', 'addTab', 'deleteTab', 'protectTab', 'unprotectTab'],
  ...['appendRows', 'editCell', 'sortRows', 'insertRows', 'deleteRows'],
  ...['clearRows', 'insertColumns', 'moveColumn'],
  ...['convertToTable', 'revertTables', 'share', 'delete'],
]

/** Answers the emulator's own API under `/emulator`, for people who try things out in the sandbox. */
export function answerAdmin(
  google: AdminSubject,
  method: string,
  target: URL,
  body: string,
): Answer {
  try {
    return jsonAnswer(200, runAdmin(google, `${method} ${target.pathname}`, body))
  } catch (error) {
    if (error instanceof ApiError) return jsonAnswer(error.code, { error: error.message })
    if (error instanceof z.ZodError) return jsonAnswer(400, { error: z.prettifyError(error) })
    return jsonAnswer(400, { error: error instanceof Error ? error.message : String(error) })
  }
}

function runAdmin(google: AdminSubject, call: string, body: string): unknown {
  const deed = /^POST \/emulator\/spreadsheets\/([^/]+)\/(\w+)$/.exec(call)
  if (deed) return carryOut(google.spreadsheet(deed[1] ?? ''), deed[2] ?? '', body)
  switch (call) {
    case 'POST /emulator/faults':
      google.faults.add(definedFields(faultSchema.parse(JSON.parse(body))))
      return google.faults.pending
    case 'DELETE /emulator/faults':
      google.faults.clear()
      return []
    case 'POST /emulator/late':
      return { applied: google.releaseLate() }
    default:
      throw new ApiError(404, 'NOT_FOUND', `${call} is not part of this API.`)
  }
}

/** Calls a method of the handle with the parameters of a JSON array. */
function carryOut(spreadsheet: SpreadsheetHandle, name: string, body: string): unknown {
  const method: unknown = deeds.includes(name) ? Reflect.get(spreadsheet, name) : undefined
  if (typeof method !== 'function') {
    throw new ApiError(404, 'NOT_FOUND', `Nobody can "${name}". Known: ${deeds.join(', ')}.`)
  }
  const result: unknown = Reflect.apply(
    method,
    spreadsheet,
    z.array(z.json()).parse(JSON.parse(body)),
  )
  return result ?? {}
}

/** The fault without the fields that are `undefined`. */
function definedFields(given: z.infer<typeof faultSchema>): Fault {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
}
