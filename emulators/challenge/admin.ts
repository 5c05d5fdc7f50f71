import { z } from 'zod'
import { type Call, jsonAnswer, type Reply } from './answer.ts'
import type { EmulatedChallenge } from './emulator.ts'
import { type Fault, type FaultAnswer, faultAnswers } from './faults.ts'
import { providerNames } from './providers.ts'
import type { WidgetSwitches } from './widget-switches.ts'

const count = z.number().int().nonnegative()
const provider = z.enum(providerNames)
const answerSchema = z.union([
  z.enum(['real', 'drop']),
  z.custom<FaultAnswer>((name) => faultAnswers.includes(name as FaultAnswer), 'unknown answer'),
  z
    .object({ status: count, headers: z.record(z.string(), z.string()), body: z.string() })
    .partial()
    .strict(),
])
const faultSchema = z
  .object({
    provider,
    skip: count,
    times: count,
    redeem: z.enum(['now', 'never']),
    answer: answerSchema,
    delayMs: count,
  })
  .partial()
  .strict()
const faultsSchema = z.union([z.array(faultSchema), faultSchema.transform((fault) => [fault])])
const siteSchema = z
  .object({ provider, siteKey: z.string().min(1), secret: z.string().min(1) })
  .partial()
  .strict()
const tokenSchema = z
  .object({
    provider: provider.default('turnstile'),
    siteKey: z.string(),
    hostname: z.string().optional(),
    action: z.string().max(32).optional(),
    cdata: z.string().max(255).optional(),
    lifeMs: count.optional(),
  })
  .strict()
const widgetSchema = z
  .object({
    outcome: z.enum(['pass', 'error', 'interactive', 'silent']),
    outcomeTimes: count,
    errorCode: z.string(),
    solveMs: count,
    expireAfterMs: count,
    interactionMs: count,
    script: z.enum(['ok', 'missing', 'drop', 'hang']),
    scriptDelayMs: count,
  } satisfies Record<keyof WidgetSwitches, z.ZodType>)
  .partial()
  .strict()

/** The emulator's own API under `/emulator`: what tests of other languages and people use. */
export function answerAdmin(challenge: EmulatedChallenge, call: Call): Reply {
  try {
    const given: unknown = call.body.trim() === '' ? {} : JSON.parse(call.body)
    const result = run(challenge, call, given)
    return result === undefined
      ? jsonAnswer(404, {
          error: `${call.method} ${call.target.pathname} is not part of this API.`,
        })
      : jsonAnswer(200, result)
  } catch (error) {
    if (error instanceof z.ZodError) return jsonAnswer(400, { error: z.prettifyError(error) })
    return jsonAnswer(400, { error: error instanceof Error ? error.message : String(error) })
  }
}

function run(challenge: EmulatedChallenge, { method, target }: Call, given: unknown): unknown {
  const [, , collection = ''] = target.pathname.split('/')
  switch (`${method} ${collection}`.trim()) {
    case 'GET':
      return {
        counters: challenge.counters,
        faults: challenge.faults.pending,
        widget: challenge.widget,
        sites: challenge.office.sites,
      }
    case 'GET calls':
      return challenge.calls
    case 'DELETE calls':
      challenge.calls.length = 0
      return {}
    case 'POST faults':
      challenge.faults.add(...faultsSchema.parse(given).map((fault) => defined(fault) as Fault))
      return challenge.faults.pending
    case 'DELETE faults':
      challenge.faults.clear()
      return {}
    case 'POST sites': {
      const { provider: name, ...keys } = siteSchema.parse(given)
      return challenge.office.createSite(name, defined(keys))
    }
    case 'POST tokens':
      return { token: issue(challenge, tokenSchema.parse(given)) }
    case 'POST widget':
      challenge.setWidget(defined(widgetSchema.parse(given)))
      return challenge.widget
    case 'DELETE widget':
      challenge.setWidget({}, { reset: true })
      return challenge.widget
    default:
      return undefined
  }
}

function issue(challenge: EmulatedChallenge, given: z.infer<typeof tokenSchema>): string {
  const { provider: name, siteKey, ...content } = given
  const site = challenge.office.siteOf(name, { siteKey })
  if (!site) throw new Error(`There is no site of ${name} with this key.`)
  return challenge.issueToken(site, defined(content))
}

type Defined<T> = { [K in keyof T]: Exclude<T[K], undefined> }

/** Optional settings without those that are `undefined`. */
function defined<T extends object>(settings: T): Defined<T> {
  const entries = Object.entries(settings).filter(([, value]) => value !== undefined)
  return Object.fromEntries(entries) as Defined<T>
}
