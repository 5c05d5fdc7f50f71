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
   * Appends the signup that this mail asks for to the list, with its cells, its id and its time. Whatever was
   * asked for later changes nothing of that, and ends when it is for the same tab, held or not; what was asked for
   * before stays. Duplicates are found now.
   * Never refuses for tabs or fields: a signup whose new tab would be one too many goes to the default tab.
   * When all seats are taken, it goes to the overflow tab; without one, nothing changes.
   * Resolves with the state after it.
   */
  confirm(message: string, now: Millis): Promise<LinkState | undefined>

  /**
   * "That was not me": erases what is pending of the message's address, and the site sends it nothing for
   * `declinedMs`. Nobody learns of it: the status is still that of a pending one until it would have expired.
   */
  decline(message: string, now: Millis): Promise<LinkState | undefined>

  /**
   * Erases the signups of the person of this welcome, and takes their rows out of the spreadsheet. The site
   * greets them no more. Who signs up again is a new signup.
   */
  leave(message: string, now: Millis): Promise<LinkState | undefined>

  /** Lets the site send to this address again. Returns whether it was blocked. */
  allow(address: string): Promise<boolean>

  /**
   * Erases the cells of pending signups whose time is over, and of mails that nobody needs any more: a slice
   * of some milliseconds. Returns whether there may be more.
   */
  sweep(now: Millis): Promise<boolean>

  /** What is kept about the person with this address beside the list: a hundred of each kind, in their order. */
  ofPerson(address: string, after?: BesideCursor): Promise<BesideList>
}

export const declinedMs = 30 * 24 * 60 * 60 * 1000

/** What the page of a link shows. */
export interface LinkState {
  /** Of which mail the link is. */
  readonly kind: 'confirm' | 'welcome'
  /**
   * - `pending`: something waits for the confirmation.
   * - `confirmed`: nothing waits, and something was confirmed; of a `welcome`: the person is on the list.
   * - `declined`, `left`: the person said so.
   * - `closed`: only behind `confirm`: it waits, and no seat is left to confirm it.
   * - `over`: what was pending has expired, or the person was forgotten.
   */
  readonly state: 'pending' | 'confirmed' | 'declined' | 'left' | 'closed' | 'over'
  /** The name of the tab of what waits, unless that is not there and not in the settings. */
  readonly tabs: readonly string[]
  /** Set when what was confirmed went to the overflow tab. */
  readonly overflow?: true
  /** The tabs of what else waits of the person, which get mails of their own. */
  readonly otherTabs: readonly string[]
  /** The text of the site that was agreed to: it has it, or had it. */
  readonly consent: string | undefined
  /** As `shortAddress` says, while the journal knows it. */
  readonly address: string | undefined
  /** Of who has left: a row of theirs is so old that nothing tells any more which it is. */
  readonly rowStays: boolean
}

/** What is kept of a person beside the list. */
export interface BesideList {
  readonly pending: readonly PendingRecord[]
  readonly messages: readonly MessageRecord[]
  readonly block: BlockRecord | undefined
  /** What to go on after; undefined when this is all. */
  readonly next?: BesideCursor | undefined
}

/** The numbers of what was told last. */
export interface BesideCursor {
  readonly pending: number
  readonly messages: number
}

export interface PendingRecord {
  readonly signup: Signup
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
