import type { Millis, Signup } from '../../signup/signup.ts'

/**
 * The journal's interface for what a person decides by the link of a mail. A pending signup is beside the
 * list: it has no position until its person confirms it. `IntakeLog.ask` adds it.
 *
 * Calls with the id of a message that there is not, or that is of another purpose, change nothing and
 * resolve with undefined. Each call can be repeated.
 */
export interface Confirmation {
  /** What the link of this message is about now. Changes nothing. */
  look(message: string, now: Millis): Promise<LinkState | undefined>

  /**
   * Appends the newest pending signup of each tab of the message's address to the list, with its id and its
   * time, and drops the older ones. Duplicates are found now. Never refuses for tabs or fields: a signup whose
   * new tab would be one too many goes to the default tab. Ends what `decline` or `leave` asked for, while
   * its cells are kept. Resolves with the state after it.
   */
  confirm(message: string, now: Millis): Promise<LinkState | undefined>

  /**
   * "That was not me": nothing pending of the message's address is confirmed, and the site sends it nothing
   * for `declinedMs`. The cells are kept for `regretMs`, so that `confirm` can end it, and erased then.
   */
  decline(message: string, now: Millis): Promise<LinkState | undefined>

  /**
   * Takes the signups of the address of this welcome off the list, and their rows out of the spreadsheet. The
   * site sends the address nothing more until it confirms anew. The cells are kept beside the list for
   * `returnMs`, so that `confirm` can end it, and erased then.
   */
  leave(message: string, now: Millis): Promise<LinkState | undefined>

  /** Lets the site send to this address again. Returns whether it was blocked. */
  allow(address: string): Promise<boolean>

  /**
   * Erases the cells of pending signups whose time is over, and of mails that nobody needs any more: a slice
   * of some milliseconds. Returns whether there may be more.
   */
  sweep(now: Millis): Promise<boolean>

  /** All that is kept about the person with this address beside the list. */
  ofPerson(address: string): Promise<BesideList>
}

export const declinedMs = 30 * 24 * 60 * 60 * 1000
export const regretMs = 7 * 24 * 60 * 60 * 1000
export const returnMs = 24 * 60 * 60 * 1000

/** What the page of a link shows. */
export interface LinkState {
  /** Of which mail the link is. */
  readonly kind: 'confirm' | 'welcome'
  /**
   * - `pending`: something waits for the confirmation.
   * - `confirmed`: nothing waits, and something was confirmed; of a `welcome`: the person is on the list.
   * - `declined`, `left`: the person said so.
   * - `over`: what was pending has expired, or the person was forgotten.
   */
  readonly state: 'pending' | 'confirmed' | 'declined' | 'left' | 'over'
  /** Until when `confirm` can end `declined` or `left`; undefined when it cannot. */
  readonly returnableUntil?: Millis | undefined
  /** The names of the tabs of what waits, was confirmed or can return; the empty name is the default tab. */
  readonly tabs: readonly string[]
  /** The wordings that were agreed to, each once. */
  readonly consents: readonly string[]
}

/** How many signups are pending, of which so many suspect, and how many addresses are blocked. */
export interface ConfirmationFigures {
  readonly pending: number
  readonly suspect: number
  /** In quarantine tabs. Undefined when none ever was, or when so many have left them that counting takes long. */
  readonly held: number | undefined
  readonly blocked: number
}

/** What is kept of a person beside the list. */
export interface BesideList {
  readonly pending: readonly PendingRecord[]
  readonly messages: readonly MessageRecord[]
  readonly block: BlockRecord | undefined
}

export interface PendingRecord {
  readonly signup: Signup
  readonly state: 'pending' | 'declined' | 'left'
  /** When its cells are erased; undefined while its mail waits. */
  readonly until: Millis | undefined
}

export interface MessageRecord {
  readonly kind: 'confirm' | 'welcome'
  readonly madeAt: Millis
  readonly sentAt: Millis | undefined
  readonly tries: number
}

export interface BlockRecord {
  readonly why: 'declined' | 'left'
  readonly at: Millis
  /** Undefined: until the person confirms anew, or the owner allows it. */
  readonly until: Millis | undefined
}
