import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'

import type { AcceptedSignup } from './crash-load.ts'

const receipt = z.object({ id: z.string() })

/** A visitor gives an answer up after this time, and asks another instance. */
const answerMs = 4000

export interface Visits {
  /** Answered with 2xx, in the end. */
  readonly accepted: AcceptedSignup[]
  /** The addresses of requests that were sent once, without a key, and had no clear answer. */
  readonly unclear: Set<string>
  /** How many requests were answered with 503, or not at all. */
  refused: number
}

export interface VisitorOptions {
  readonly nextUrl: () => string
  readonly tabs: readonly string[]
  readonly visitorsAtOnce: number
  readonly pauseMs: number
  readonly stop: AbortSignal
}

/**
 * Lets visitors sign up until `stop`. Most of them repeat a request by its idempotency key at the next
 * instance until it is answered with 2xx. One of four sends it once.
 */
export async function visit(options: VisitorOptions): Promise<Visits> {
  const { nextUrl, tabs, visitorsAtOnce, pauseMs, stop } = options
  const visits: Visits = { accepted: [], unclear: new Set(), refused: 0 }
  let count = 0
  const visitor = async () => {
    while (!stop.aborted) {
      count += 1
      const email = `visitor.${count}@example.com`
      const tab = tabs[count % tabs.length] ?? 'Sheet1'
      const isRepeated = count % 4 !== 0
      for (;;) {
        const id = await signUp(nextUrl(), email, tab, isRepeated)
        if (id !== undefined) visits.accepted.push({ id, email, tab })
        else visits.refused += 1
        if (id === undefined && !isRepeated) visits.unclear.add(email)
        if (id !== undefined || !isRepeated) break
        await sleep(100)
      }
      await sleep(pauseMs)
    }
  }
  await Promise.all(Array.from({ length: visitorsAtOnce }, visitor))
  return visits
}

/** The id of the signup; undefined when the answer was 503 or there was none. @throws Error at any other answer */
async function signUp(
  url: string,
  email: string,
  sheetTab: string,
  hasKey: boolean,
): Promise<string | undefined> {
  let answer: Response
  let body: unknown
  try {
    answer = await fetch(`${url}/api/signup`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(hasKey && { 'idempotency-key': email }) },
      body: JSON.stringify({ email, sheetTab }),
      signal: AbortSignal.timeout(answerMs),
    })
    body = await answer.json()
  } catch {
    return undefined
  }
  if (answer.status === 202 || answer.status === 200) return receipt.parse(body).id
  if (answer.status === 503 && answer.headers.has('retry-after')) return undefined
  throw new Error(`A signup was answered ${answer.status}: ${JSON.stringify(body)}`)
}
