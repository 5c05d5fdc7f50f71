import { hour, type Random, second } from '../platform/clock.ts'
import type { Millis } from '../signup/signup.ts'
import { type Message, type Receiver, sendMessage, type SendWorld } from './send.ts'

/** A message that waits to be sent, and how often that was tried. */
export interface WaitingMessage extends Message {
  readonly tries: number
  /** On the wall clock. */
  readonly nextAt: Millis
}

export type Attempt =
  | { readonly kind: 'received'; readonly tries: number }
  /** Has the message as it waits now. */
  | { readonly kind: 'later'; readonly waiting: WaitingMessage; readonly reason: string }
  | { readonly kind: 'given up'; readonly tries: number; readonly reason: string }

const pauseMaxMs = 2 * hour
/** The pauses between so many tries take a day, give or take two hours. No jump of a clock changes that. */
const triesMax = 27

/** Whether the next try is due. A wall clock that was set back makes nothing wait for longer. */
export function isDue({ nextAt }: WaitingMessage, now: Millis): boolean {
  return now >= nextAt || nextAt - now > pauseMaxMs
}

/** Sends a message, and decides when to try again: for about a day, with pauses that grow. Never rejects. */
export async function attempt(
  message: WaitingMessage,
  receiver: Receiver,
  world: SendWorld & { readonly random: Random },
  signal: AbortSignal,
): Promise<Attempt> {
  const sent = await sendMessage(receiver, message, world, signal)
  const tries = message.tries + 1
  if (sent.kind === 'received') return { kind: 'received', tries }
  const { reason } = sent
  if (sent.kind === 'gone' || tries >= triesMax) return { kind: 'given up', tries, reason }
  const nextAt = world.clock.now() + pauseMs(tries, world.random)
  return { kind: 'later', waiting: { ...message, tries, nextAt }, reason }
}

/** 5 s after the first try, twice as long after each further one, and at most 2 hours; a half is jitter. */
export function pauseMs(tries: number, random: Random): Millis {
  const ceiling = Math.min(pauseMaxMs, 5 * second * 2 ** (tries - 1))
  return (ceiling * (1 + random())) / 2
}
