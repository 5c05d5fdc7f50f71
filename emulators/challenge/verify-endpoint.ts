import { type Call, drop, jsonAnswer, type Reply, textAnswer } from './answer.ts'
import type { EmulatedChallenge } from './emulator.ts'
import { cannedAnswers, type Fault, settled } from './faults.ts'
import { providerRules, type ProviderName } from './providers.ts'
import { refusal, siteverify, type Verdict } from './siteverify.ts'

/** Answers a siteverify call, or lets a fault do it. */
export async function answerSiteverify(
  challenge: EmulatedChallenge,
  provider: ProviderName,
  call: Call,
): Promise<Reply> {
  const rules = providerRules[provider]
  const { method, contentType, body } = call
  if (method !== 'POST') return textAnswer(405, 'Method Not Allowed')
  const isForm = contentType.startsWith('application/x-www-form-urlencoded')
  const fields = isForm ? Object.fromEntries(new URLSearchParams(body)) : undefined
  const carryOut = () =>
    fields
      ? siteverify(
          { provider, fields },
          challenge.office,
          challenge.clock.now(),
          challenge.siteverify,
        )
      : refusal(rules, 'bad-request')

  const fault = challenge.faults.take(provider)
  const { isRedeemed, answer } = settled(fault ?? { redeem: 'now' })
  const verdict = isRedeemed ? carryOut() : undefined
  const seen = typeof answer === 'string' ? answer : 'canned'
  challenge.calls.push({ provider, method, fields: fields ?? {}, verdict, answer: seen })
  await waited(challenge, fault?.delayMs ?? 0)
  return reply(answer, verdict ?? refusal(rules, 'internal-error'))
}

function reply(answer: NonNullable<Fault['answer']>, verdict: Verdict): Reply {
  if (answer === 'drop') return drop
  if (answer === 'real') return jsonAnswer(200, verdict)
  if (typeof answer === 'string') return cannedAnswers[answer]
  return { status: 200, headers: {}, body: '', ...answer }
}

/** Resolves after so many milliseconds of the emulator's clock. */
export async function waited({ clock }: EmulatedChallenge, ms: number): Promise<void> {
  if (ms > 0) await new Promise<void>((resolve) => void clock.after(ms, resolve))
}
