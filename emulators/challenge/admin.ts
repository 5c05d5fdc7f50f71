import { z } from 'zod'
import { type Call, jsonAnswer, type Reply } from './answer.ts'
import type { EmulatedChallenge } from './emulator.ts'
import { type FaultAnswer, faultAnswers } from './faults.ts'
import { providerNames } from './providers.ts'

const faultSchema = z.strictObject({
  times: z.number().int().nonnegative().default(1),
  redeem: z.enum(['now', 'never']).default('never'),
  answer: z.union([
    z.enum(['real', 'drop']),
    z.custom<FaultAnswer>((name) => faultAnswers.includes(name as FaultAnswer), 'unknown answer'),
  ]),
})
const tokenSchema = z.strictObject({
  provider: z.enum(providerNames).default('turnstile'),
  siteKey: z.string(),
})
const widgetSchema = z.strictObject({
  outcome: z.enum(['pass', 'error', 'interactive']).default('pass'),
  expireAfterMs: z.number().int().nonnegative().default(0),
  script: z.enum(['ok', 'missing', 'hang']).default('ok'),
})

/** Answers the emulator's own API under `/emulator`, for people who try things out in the sandbox. */
export function answerAdmin(challenge: EmulatedChallenge, call: Call): Reply {
  try {
    return jsonAnswer(200, run(challenge, call))
  } catch (error) {
    if (error instanceof z.ZodError) return jsonAnswer(400, { error: z.prettifyError(error) })
    return jsonAnswer(400, { error: error instanceof Error ? error.message : String(error) })
  }
}

function run(challenge: EmulatedChallenge, { method, target, body }: Call): unknown {
  switch (`${method} ${target.pathname}`) {
    case 'POST /emulator/faults':
      challenge.faults.add(faultSchema.parse(JSON.parse(body)))
      return challenge.faults.pending
    case 'DELETE /emulator/faults':
      challenge.faults.clear()
      return []
    case 'POST /emulator/tokens': {
      const { provider, siteKey } = tokenSchema.parse(JSON.parse(body))
      const site = challenge.office.siteOf(provider, { siteKey })
      if (!site) throw new Error(`There is no site of ${provider} with this key.`)
      return { token: challenge.issueToken(site) }
    }
    case 'POST /emulator/widget':
      challenge.widget = widgetSchema.parse(JSON.parse(body))
      return challenge.widget
    default:
      throw new Error(`${method} ${target.pathname} is not part of this API.`)
  }
}
