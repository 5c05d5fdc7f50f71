import type { Millis } from '../../signup/signup.ts'

/**
 * The journal's interface for mails of one site that wait to be sent.
 * A message is added in the same transaction as what it tells of, so none is sent before its commit.
 *
 * Only the instance that delivers for the site may claim messages.
 */
export interface Outbox {
  /** Adds a message, unless the journal has had one with this id. */
  add(message: NewMessage): Promise<void>

  /**
   * Takes messages that are due, in the order in which they are to be sent. Each stays with `by` until it is
   * settled; what another holder of the lease has claimed is free again. A message to an address is counted
   * here, before it is sent, so that no crash exceeds `recipientLimits` or `perHour`. A try after the first is
   * not counted again: the message counts from then.
   */
  claim(order: ClaimOrder): Promise<Claimed>

  /** Whether the message is still claimed by `by`: not when its person was forgotten meanwhile. */
  isClaimed(number: number, by: string): Promise<boolean>

  /** Notes what became of a claimed message. Does nothing when its person was forgotten meanwhile. */
  settle(number: number, outcome: MessageOutcome): Promise<void>

  figures(kinds: readonly MessageKind[]): Promise<OutboxFigures>
}

/**
 * - `confirm`: asks for the confirmation of signups.
 * - `welcome`: greets somebody whose signup counts.
 * - `report`: tells the owner what has come.
 */
export type MessageKind = 'confirm' | 'welcome' | 'report'

export interface NewMessage {
  readonly id: string
  readonly kind: 'report'
  readonly body: string
  /** When to try first. */
  readonly at: Millis
}

export interface Message {
  readonly number: number
  /** Random, of letters, digits, - and _; the same in all tries. */
  readonly id: string
  readonly kind: MessageKind
  /** To whom a mail to a visitor goes; else empty. */
  readonly email: string
  /** The language of the visitor (`Language`); else empty. */
  readonly language: string
  readonly body: string
  readonly madeAt: Millis
  /** How often it was tried before. */
  readonly tries: number
  /** Of `confirm`: whether the address is on the list of the site already. */
  readonly isListed: boolean
  /** Of `confirm`: when its link ends, if it goes now. */
  readonly linkUntil?: Millis | undefined
  /** Of `confirm`: nobody is to get it. It is tried like others, so that nobody learns of that, and then dropped. */
  readonly isUnwanted: boolean
}

export interface ClaimOrder {
  readonly kinds: readonly MessageKind[]
  /** Who sends: a name that no other holder of the lease has. */
  readonly by: string
  readonly now: Millis
  /** At most how many. */
  readonly max: number
  /** At most how many messages to addresses all sites together begin to send in an hour. */
  readonly perHour?: number
  /** What an earlier claim told: until then, ready messages to visitors alone are no reason to take a lock. */
  readonly pacedUntil?: Millis | undefined
}

export interface Claimed {
  readonly messages: readonly Message[]
  /** When the next message may be due that waits; undefined when none waits. May be in the past. */
  readonly nextAt: Millis | undefined
  /** Until when `perHour` alone holds back all that is ready for visitors; undefined when it may not. */
  readonly pacedUntil?: Millis | undefined
}

export type MessageOutcome =
  | { readonly kind: 'sent'; readonly at: Millis }
  /** It would have been sent, but is unwanted. */
  | { readonly kind: 'dropped'; readonly at: Millis }
  /** To be tried again. The try counts. */
  | {
      readonly kind: 'later'
      readonly at: Millis
      readonly nextAt: Millis
      readonly reason: string
    }
  /** The try does not count: it was not made, or all others would have failed in the same way. */
  | { readonly kind: 'untried'; readonly nextAt: Millis }
  /** Nobody tries it again. */
  | { readonly kind: 'failed'; readonly at: Millis; readonly reason: string }

/** Reasons are fixed sentences. They never have an address. */
export interface OutboxFigures {
  readonly waiting: number
  /** How many of them were not tried yet, and rest: limits protect their people. */
  readonly resting: number
  /** When the oldest message that waits, and may be sent now, was made. */
  readonly oldest: Millis | undefined
  readonly lastSent: Millis | undefined
  /** The last message that failed for good, or whose last try failed. Undefined when a later one was sent. */
  readonly failed:
    | {
        readonly at: Millis
        readonly tries: number
        readonly reason: string
        readonly isFinal: boolean
      }
    | undefined
}

/**
 * How many messages one mailbox gets. Spellings that a provider is known to deliver to one mailbox count
 * together (`mailboxOf`). Facts: docs/mail.md.
 */
export const recipientLimits = {
  /** Of all sites, at most one in this time. The welcome after a confirmation does not wait for it. */
  pauseMs: 15 * 60 * 1000,
  dayMs: 24 * 60 * 60 * 1000,
  aDayOfSite: 3,
  aDay: 6,
} as const
