import type { Millis, Signup, SignupId } from '../../signup/signup.ts'

/**
 * The journal's interface for webhooks of one site. Each endpoint has a cursor in the list. A message has a row
 * of its own only when it has failed, was asked for again, or tells that a signup was erased.
 *
 * An endpoint is known by its key: whoever follows chooses it. Every instance calls `follow` when it starts. Only
 * the one that delivers for the site sends, and goes on to call `follow` and `settle`.
 */
export interface WebhookLog {
  /**
   * Follows these endpoints from now on. A new one starts behind the last signup. One that was not among them
   * for a day is not known any more. What failed 30 days ago is dropped.
   */
  follow(endpoints: readonly string[], now: Millis): Promise<void>

  /** Undefined when it is not followed. All endpoints that are asked for at once are one question. */
  endpoint(endpoint: string): Promise<EndpointRecord | undefined>

  /**
   * The window of messages to send together: at most five that have a row of their own and are due, and those of
   * the list behind `after`, ten in all. One that waits for a further try keeps its place, but for the last one.
   *
   * @param together for an endpoint whose messages tell of many: those of one message
   */
  next(endpoint: string, after: number, now: Millis, together?: Together): Promise<MessageWindow>

  /**
   * Moves the cursor, and notes what became of messages. Resolves with false, and changes nothing, when the
   * cursor is not at `from`, or another message of many than `fixedFrom` says is fixed: somebody has asked for a
   * replay, or another instance sends. The change may be on disk only after the next commit: a loss of power takes
   * all of it back, so that it is sent once more.
   */
  settle(endpoint: string, settled: Settled): Promise<boolean>

  /** Notes that it works, and makes what waits for a further try due now, as if it had none before. */
  enable(endpoint: string): Promise<void>

  /** At most 100 messages that have failed for good, behind this position, in order. */
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
  /** How often it has failed before, when it has a row of its own. */
  readonly tries?: number
}

export interface MessageWindow {
  /** Each as its signup is now: those with rows of their own before those of the list, in order. */
  readonly messages: readonly WebhookMessage[]
  /** Up to this position the list has no others. */
  readonly upto: number
}

/** What became of a message of this type: when the signup was erased meanwhile, that is still to be told. */
export type WebhookOutcome = Pick<WebhookMessage, 'position' | 'type'> &
  ({ readonly kind: 'sent' } | WebhookFailure)

interface WebhookFailure {
  readonly kind: 'failed'
  readonly tries: number
  readonly at: Millis
  /** When to try again, 0 when it is as if there was no try, and undefined when nobody tries again. */
  readonly nextAt: Millis | undefined
  /** A fixed sentence, or one that names at most a host. */
  readonly reason: string
}

/** One message tells of so many of the list, or else of half as many that have rows of their own, which go first. */
export interface Together {
  readonly most: number
  /** Where it ends, from before it is first sent, so that each try tells the same; undefined for those with rows. */
  readonly fixedTo: number | undefined
}

export interface Settled {
  /** All messages of the list up to `to` were taken, but for those among the outcomes. */
  readonly from: number
  readonly to: number
  readonly outcomes: readonly WebhookOutcome[]
  /** As `EndpointRecord.fixedTo`, as the sender knows it. */
  readonly fixedFrom?: number | undefined
  /** Up to where the message of many goes that is sent next; it is on disk at once. Undefined when there is none. */
  readonly fixedTo?: number | undefined
  /** When the endpoint took a message last; undefined when that is known. */
  readonly takenAt?: Millis | undefined
  /** How it does, when that has changed. */
  readonly fare?: EndpointFare | undefined
}

export interface FailedMessage extends Omit<WebhookFailure, 'kind' | 'nextAt'> {
  readonly position: number
  readonly id: string
  readonly type: WebhookType
}

/** How an endpoint does. */
export interface EndpointFare {
  /** Since when it takes nothing, and rests between tries. */
  readonly failingSince: Millis | undefined
  /** Since when nothing is sent, until somebody enables it. */
  readonly disabledAt: Millis | undefined
  /** Why it takes nothing. */
  readonly reason: string
}

export const workingFare: EndpointFare = {
  failingSince: undefined,
  disabledAt: undefined,
  reason: '',
}

export interface EndpointRecord extends EndpointFare {
  /** All messages of the list up to this position were sent, or have a row of their own. */
  readonly cursor: number
  /** The position of the last signup of all sites. */
  readonly last: number
  /** When a message with a row of its own is due. */
  readonly dueAt: Millis | undefined
  /** How often somebody has enabled it. */
  readonly enabled: number
  /** Up to where the message goes that is fixed; undefined when none is. */
  readonly fixedTo: number | undefined
  /** How many messages have failed, and are tried again. */
  readonly waiting: number
  /** When it took a message last; undefined when it never did. */
  readonly takenAt: Millis | undefined
}

export interface WebhookFigures extends Omit<EndpointRecord, 'last' | 'dueAt' | 'fixedTo'> {
  /**
   * How many messages wait, behind the cursor or with a row of their own. More than 1,000 positions behind the
   * cursor are taken for as many messages.
   */
  readonly backlog: number
  /** When the oldest signup came whose message waits. */
  readonly oldest: Millis | undefined
  /** How many messages have failed for good, and are kept. */
  readonly failed: number
}
