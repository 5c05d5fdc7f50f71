import { type Call, drop, jsonAnswer, type Reply, textAnswer } from './answer.ts'
import type { EmulatedChallenge } from './emulator.ts'
import { cannedAnswers, type Fault, settled } from './faults.ts'
import { providerRules, type ProviderName } from './providers.ts'
import { refusal, siteverify, type Verdict } from './siteverify.ts'

/** Answers a siteverify call, or lets a fault answer it. */
export async function answerSiteverify(
  { faults, office, clock, calls }: EmulatedChallenge,
  provider: ProviderName,
  { method, contentType, body }: Call,
): Promise<Reply> {
  if (method !== 'POST') return textAnswer(405, 'Method Not Allowed')
  const rules = providerRules[provider]
  const isForm = contentType.startsWith('application/x-www-form-urlencoded')
  const fields = Object.fromEntries(new URLSearchParams(isForm ? body : ''))
  const fault = faults.take(provider)
  const { isRedeemed, answer } = settled(fault ?? { redeem: 'now' })
  const carryOut = () =>
    isForm ? siteverify({ provider, fields }, office, clock.now()) : refusal(rules, 'bad-request')
  const verdict = isRedeemed ? carryOut() : undefined
  calls.push({ fields, verdict })
  const delayMs = fault?.delayMs ?? 0
  if (delayMs > 0) await new Promise<void>((resolve) => void clock.after(delayMs, resolve))
  return reply(answer, verdict ?? refusal(rules, 'internal-error'))
}

function reply(answer: NonNullable<Fault['answer']>, verdict: Verdict): Reply {
  if (answer === 'drop') return drop
  if (answer === 'real') return jsonAnswer(200, verdict)
  if (typeof answer === 'string') return cannedAnswers[answer]
  return { status: 200, headers: {}, body: '', ...answer }
}
