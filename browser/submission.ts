import type { Problem, SignupAccepted } from '../src/signup/wire.ts'
import { createGate, type Gate, type GateSetup } from './gate.ts'
import { ask, mayPass, post } from './service.ts'
import { Told } from './told.ts'
import { stampField } from '../src/signup/filter-fields.ts'

/** After so long, ask the visitor to try again. Time without a network does not count. */
const patienceMs = 75_000
const pauseMaxMs = 15_000

export interface SenderSetup extends GateSetup {
  readonly onWait: (why: 'checking' | 'sending' | 'offline' | 'retrying') => void
}

export function createSender(setup: SenderSetup) {
  const gate = createGate(setup)
  const stamp = createStamp(setup.endpoint)
  let last: string | undefined
  let key: string
  return {
    config: gate.config,
    /** Shows the challenge, if there is one. Rejects with `Told` when nobody can sign up. */
    prepare: async (): Promise<void> => {
      void stamp.refresh()
      const challenge = await gate.open()
      challenge?.begin?.()
    },
    /**
     * Sends the signup, and repeats it while another try may help. Rejects with `Told` when it fails.
     * Until the signup is accepted, sending the same data again does not make a second signup.
     */
    send: async (data: URLSearchParams): Promise<SignupAccepted> => {
      if (last !== `${data}`) key = newKey()
      last = `${data}`
      // Not before the comparison: another stamp makes no other signup.
      const stamped = stamp.on(data)
      const accepted = await send(setup, gate, key, stamped).catch((error: unknown) => {
        // The token may have expired, or the challenge was just turned on. Try once more.
        const { reason, status } = error as Partial<Told>
        if (reason !== 'checkFailed' || !status) throw error
        gate.forget()
        return send(setup, gate, key, stamped)
      })
      last = undefined
      return accepted
    },
  }
}

async function send(
  setup: SenderSetup,
  gate: Gate,
  key: string,
  data: URLSearchParams,
): Promise<SignupAccepted> {
  const { onWait, signal } = setup
  let patienceEnds = performance.now() + patienceMs
  for (let tries = 0; !signal.aborted; tries++) {
    const { answer, body } = (await tryOnce(setup, gate, key, data)) ?? {}
    if (answer?.ok) return body as SignupAccepted
    const status = answer?.status ?? 0
    // Trying again with the same key is safe.
    if (!mayPass(status)) throw refusal(status, body as Problem | undefined)

    const isOffline = !answer && !navigator.onLine
    const pauseMs = pauseAfter(answer?.headers.get('retry-after'), tries)
    if (isOffline) patienceEnds = performance.now() + patienceMs
    if (performance.now() + pauseMs > patienceEnds) throw new Told('failed', status)
    onWait(isOffline ? 'offline' : 'retrying')
    await pause(pauseMs, !answer)
  }
  // The form was removed, so nobody sees this error.
  throw new Told('failed')
}

interface Read {
  readonly answer: Response
  readonly body: unknown
}

/** Sends once. Undefined when there was no complete answer; the signup may have arrived. */
async function tryOnce(
  { endpoint, onWait, language }: SenderSetup,
  gate: Gate,
  key: string,
  data: URLSearchParams,
): Promise<Read | undefined> {
  try {
    const challenge = await gate.open()
    const token = await challenge?.token(onWait)
    const content = new URLSearchParams(data)
    if (token) content.set('challengeToken', token)
    const answer = await post(endpoint, key, language, content)
    challenge?.reset()
    // The body may be a proxy's error page, which is ignored. An acceptance counts only with its body.
    const read: Promise<unknown> = answer.json()
    const body = await (answer.ok ? read : read.catch(() => undefined))
    return { answer, body }
  } catch (error) {
    // No `instanceof`: parts of the script that are loaded later have a class `Told` of their own.
    if ((error as Partial<Told>).reason) throw error
    // This page's origin may no longer be allowed. Only a new read of the settings can tell.
    gate.forget()
    return undefined
  }
}

function refusal(status: number, problem: Problem | undefined): Told {
  // Our only 403 that a page can read is a refused token. A proxy's 403 is no problem document.
  const other = status === 403 && problem ? 'checkFailed' : 'forbidden'
  return new Told(problem?.notice ? 'closed' : other, status, problem)
}

/** The pause that `Retry-After` asks for, or else exponential backoff with jitter. */
function pauseAfter(retryAfter: string | null | undefined, tries: number): number {
  const backoffMs = Math.min(pauseMaxMs, 1000 * 2 ** tries) * (0.5 + Math.random() / 2)
  return retryAfter && +retryAfter >= 0 ? +retryAfter * 1000 : backoffMs
}

/** Waits. With `untilOnline`, the wait ends early when the network is back. */
function pause(ms: number, untilOnline: boolean): Promise<unknown> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms)
    if (untilOnline) addEventListener('online', resolve, { once: true })
  })
}

/** The time, so that the journal has keys in order, and 128 random bits. Without TLS there is no `randomUUID`. */
function newKey(): string {
  return [Date.now(), ...crypto.getRandomValues(new Uint32Array(4))].join('-')
}

/** A stamp is good for a day. This leaves the visitor many hours to fill in the form. */
const newAfterMs = 3_600_000

/** The service's signed time at which somebody began to fill in the form. */
function createStamp(endpoint: string) {
  let stamp = ''
  let askedAt = 0
  return {
    /** Asks for a stamp at the first focus, and for a new one at a focus an hour later. Never rejects. */
    refresh: async (): Promise<void> => {
      if (Date.now() - askedAt < newAfterMs) return
      askedAt = Date.now()
      try {
        const answer = await ask(endpoint, 'stamp')
        stamp = ((await answer.json()) as { stamp?: string }).stamp ?? stamp
      } catch {
        // A signup without a stamp is as good.
      }
    },
    /** The same fields with the stamp. Without a stamp of our own, that of the page stays. */
    on: (data: URLSearchParams): URLSearchParams => {
      const stamped = new URLSearchParams(data)
      if (stamp) stamped.set(stampField, stamp)
      return stamped
    },
  }
}
