import type { Millis, Signup, SignupId } from '../../signup/signup.ts'

/**
 * The journal's interface for webhooks of one site. Each endpoint has a cursor in the list. A message has a row
 * of its own only when it has failed, was asked for again, or tells that a signup was erased.
 *
 * An endpoint is known by its key: whoever follows chooses it. Every instance calls `follow` when it starts. Only
 * the one that delivers for the site sends, and goes on to call `follow`, `advance` and `settle`.
 */
export interface WebhookLog {
  /**
   * Follows these endpoints from now on. A new one starts behind the last signup. One that was not among them
   * for a day is not known any more. What failed 30 days ago is dropped.
   */
  follow(endpoints: readonly string[], now: Millis): Promise<void>

  /** Undefined when it is not followed. */
  endpoint(endpoint: string): Promise<EndpointRecord | undefined>

  /** At most `max` messages behind this position, and at most 10, in order, each as the signup is now. */
  after(endpoint: string, position: number, max: number): Promise<MessageSlice>

  /**
   * Moves the cursor, and sets messages aside that failed on the way. Resolves with false, and changes nothing,
   * when the cursor is not at `from`: somebody has asked for a replay. The change may be on disk only after the
   * next commit: a loss of power takes both back together, so that all of it is sent once more.
   */
  advance(endpoint: string, move: CursorMove): Promise<boolean>

  /** At most 20 messages that are set aside and due, the earliest first, each as the signup is now. */
  due(endpoint: string, now: Millis): Promise<readonly AsideMessage[]>

  /** Notes what became of messages that were set aside; on disk only after the next commit, as `advance`. */
  settle(endpoint: string, outcomes: readonly AsideOutcome[]): Promise<void>

  /** Notes how the endpoint does. */
  note(endpoint: string, fare: EndpointFare): Promise<void>

  /** Notes that it works, and makes what is set aside due now. */
  enable(endpoint: string): Promise<void>

  /** At most 100 messages that were given up, behind this position, in order. */
  failed(endpoint: string, after: number): Promise<readonly FailedMessage[]>

  /** Which of these signups the endpoint was told of and has taken. A later replay of one takes it out until then. */
  passed(endpoint: string, ids: readonly SignupId[]): Promise<readonly SignupId[]>

  /** Sends the message of this signup again. False when it has none that counts. */
  replay(endpoint: string, id: string): Promise<boolean>

  /**
   * Moves the cursor back to the first signup that came, or was confirmed, at this time or later. Resolves with
   * how many positions it went back, those of other sites too; 0 when there is none.
   */
  replaySince(endpoint: string, since: Millis): Promise<number>

  /** Figures of an endpoint; undefined when it is not followed. */
  figures(endpoint: string): Promise<WebhookFigures | undefined>
}

/**
 * - `signup.accepted`: the signup counts.
 * - `signup.erased`: it has no cells any more.
 */
export type WebhookType = 'signup.accepted' | 'signup.erased'

export interface WebhookMessage {
  readonly position: number
  readonly type: WebhookType
  /** Of an erased one nothing but the id counts. */
  readonly signup: Signup
}

export interface MessageSlice {
  readonly messages: readonly WebhookMessage[]
  /** Up to this position there are no others. */
  readonly upto: number
}

/** A message that waits for its own next try. */
export interface AsideMessage extends WebhookMessage {
  /** How often it was tried before. */
  readonly tries: number
}

export interface CursorMove {
  readonly from: number
  readonly to: number
  /** Those that failed among the messages up to `to`. */
  readonly aside: readonly AsideFailure[]
}

export interface AsideFailure {
  readonly position: number
  readonly type: WebhookType
  readonly tries: number
  readonly at: Millis
  /** When to try again; undefined when nobody does. */
  readonly nextAt: Millis | undefined
  /** A fixed sentence, or one that names at most a host. */
  readonly reason: string
}

/** A message of the type that was sent: when the signup was erased meanwhile, that is still to be told. */
export type AsideOutcome =
  | { readonly position: number; readonly type: WebhookType; readonly isSent: true }
  | (AsideFailure & { readonly isSent?: false })

export interface FailedMessage {
  readonly position: number
  readonly id: string
  readonly type: WebhookType
  readonly tries: number
  readonly at: Millis
  readonly reason: string
}

/** How an endpoint does. All times are undefined while it works. */
export interface EndpointFare {
  /** Since when nothing but failures came. */
  readonly failingSince: Millis | undefined
  /** Since when the cursor stands still, and one message probes. */
  readonly haltedAt: Millis | undefined
  /** Since when nothing is sent, until somebody enables it. */
  readonly disabledAt: Millis | undefined
  /** Why the last message failed. */
  readonly reason: string
}

/** That of an endpoint that works. */
export const workingFare: EndpointFare = {
  failingSince: undefined,
  haltedAt: undefined,
  disabledAt: undefined,
  reason: '',
}

export interface EndpointRecord extends EndpointFare {
  /** All messages up to this position were sent or set aside. */
  readonly cursor: number
  /** How many are set aside after a failure, and wait for a next try. */
  readonly aside: number
}

export interface WebhookFigures extends EndpointRecord {
  /**
   * How many messages wait, behind the cursor or set aside. More than 1,000 positions behind the cursor are
   * taken for as many messages.
   */
  readonly backlog: number
  /** When the oldest signup came whose message waits. */
  readonly oldest: Millis | undefined
  /** How many messages were given up, and are kept. */
  readonly failed: number
}
