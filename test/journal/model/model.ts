import type { BatchRef } from '../../../src/journal/contracts/delivery-log.ts'
import type { Signup, SignupId } from '../../../src/signup/signup.ts'

/**
 * What the contract says of signups, in the list and beside it, as plain data. It is written from the contract and
 * the docs, without the journal's own code.
 */
export interface Model {
  readonly policy: Record<'ignoresDuplicates' | 'holdsSuspects' | 'welcomes', boolean>
  now: number
  /** All signups that the journal was given, in this order. */
  readonly ones: One[]
  frozen: (BatchRef & { readonly items: readonly Item[] }) | undefined
  /** People of whom a tombstone stays. */
  readonly buried: Set<string>
  /** Signups of who left when retention had erased each copy of the address: no tombstone, and a restore has them. */
  readonly departed: Set<SignupId>
  readonly blocks: Map<string, { readonly why: 'declined' | 'left'; readonly until: number }>
  readonly links: Link[]
}

/** One signup. */
export interface One {
  /** As the journal has it: `suspect` while it is held. */
  signup: Signup
  readonly isSuspect: boolean
  readonly isImported: boolean
  /** The address, letter case aside. */
  readonly person: string
  tab: string
  /** 0 while it is beside the list. */
  position: number
  /** Beside the list; or in it: whether it is held, gets a row, or is an ignored duplicate. */
  state: 'pending' | 'held' | 'wanted' | 'duplicate'
  /**
   * - `doomed`: erased when the frozen batch has ended, which has it.
   * - `old`: retention has reached them. `lost`: erased after that, so that nobody knows its row.
   */
  cells: 'kept' | 'doomed' | 'erased' | 'old' | 'lost'
  /** A batch had a row of it, or the spreadsheet has one after a restore. */
  hasRow: boolean
  /** It waits to be delivered once more. */
  isAgain: boolean
  /** When a batch with it was settled first, and last. */
  writtenAt?: number
  settledAt?: number
  confirmedAt?: number
  /** When it ends if nobody confirms it, and whether its mail has gone. */
  expiresAt: number
  isMailed: boolean
}

/** The link of a mail: of which signup, when it asks for one. Without a person it does nothing any more. */
export interface Link {
  readonly message: string
  readonly kind: 'confirm' | 'welcome'
  person: string
  readonly id: SignupId | undefined
  readonly sentAt: number
  /** Until retention reaches the mail. */
  hasAddress: boolean
}

/** A signup in a batch. */
export interface Item {
  readonly one: One
  readonly isAgain: boolean
  readonly hasRow: boolean
}

export const [minute, hour, day] = [60_000, 3_600_000, 86_400_000]
/** `CONFIRMATION_DAYS`. */
export const waitMs = 7 * day

export const personOf = (email: string) => email.toLowerCase()
const tabOf = ({ sheetTab }: Signup) => sheetTab || 'Sheet1'
export const isListed = ({ position }: One) => position > 0
/** It counts as accepted. */
export const isCounted = ({ state }: One) => state === 'wanted' || state === 'duplicate'
/** Everybody sees it in the list. */
export const isShown = (one: One) => isCounted(one) && one.cells === 'kept'
export const isPending = ({ state, cells }: One) => state === 'pending' && cells === 'kept'
export const isHeld = (one: One) => one.signup.suspect !== undefined && one.cells === 'kept'
export const hasCells = ({ cells }: One) => cells === 'kept' || cells === 'doomed'
export const isErased = ({ cells }: One) => cells === 'erased' || cells === 'lost'
/** The next batch has a row of it. */
export const getsRow = (one: One) =>
  one.state === 'wanted' && one.cells === 'kept' && (one.isAgain || !one.hasRow)
/** Webhooks tell of it as soon as it counts. */
export const isTold = (one: One) => isShown(one) && one.state === 'wanted' && !one.isImported

export const isFrozen = ({ frozen }: Model, one: One) =>
  frozen?.items.some((item) => item.one === one) ?? false
export const isReleased = ({ policy }: Model, { isSuspect, signup }: One) =>
  isSuspect && policy.holdsSuspects && !signup.suspect
/** It is as a batch has written it. */
export const isWritten = (model: Model, one: One) =>
  isShown(one) && one.state === 'wanted' && !!one.writtenAt && !one.isAgain && !isFrozen(model, one)

export function known({ ones }: Model, id: SignupId | undefined): One {
  const one = ones.find(({ signup }) => signup.id === id)
  if (!one) throw new Error(`No signup has the id ${id}.`)
  return one
}

export function ofPerson({ ones }: Model, email: string): readonly One[] {
  return ones.filter(({ person }) => person === personOf(email))
}

export function listed({ ones }: Model): readonly One[] {
  return ones.filter(isListed).toSorted((a, b) => a.position - b.position)
}

export function blockOf({ blocks, now }: Model, person: string) {
  const block = blocks.get(person)
  return block && block.until > now ? block.why : undefined
}

/** Whether its tab knows its person already: by a hash, where retention has reached the cells. */
export function isKnown({ ones, policy }: Model, signup: Signup): boolean {
  const [person, tab] = [personOf(signup.email), tabOf(signup)]
  const knows = ({ cells }: One) =>
    cells === 'kept' || (cells === 'old' && policy.ignoresDuplicates)
  return ones.some((it) => it.tab === tab && it.person === person && isCounted(it) && knows(it))
}

/** An end is a full hour. A mail waits at most 30 days. */
export const endAfter = (at: number) => Math.ceil(at / hour) * hour + waitMs
const lastEndAfter = (at: number) => endAfter(at + 30 * day)

/** Adds a new signup beside the list. */
export function add(model: Model, given: Signup, isImported = false): One {
  const one: One = {
    signup: model.policy.holdsSuspects ? given : plain(given),
    isSuspect: given.suspect !== undefined,
    isImported,
    person: personOf(given.email),
    tab: tabOf(given),
    position: 0,
    state: 'pending',
    cells: 'kept',
    expiresAt: lastEndAfter(given.receivedAt),
    hasRow: false,
    isAgain: false,
    isMailed: false,
  }
  model.ones.push(one)
  return one
}

/** Gives it the next position. A held one counts as nothing there. */
export function enlist(model: Model, one: One): void {
  const position = model.ones.filter(isListed).length + 1
  one.state = one.signup.suspect ? 'held' : stateOf(model, one)
  one.position = position
}

/** Whether it gets a row, when it counts now. */
function stateOf(model: Model, one: One): 'wanted' | 'duplicate' {
  return model.policy.ignoresDuplicates && isKnown(model, one.signup) ? 'duplicate' : 'wanted'
}

/** Counts a held one: behind the batch that it was in, it is delivered once more. A pending one is asked now. */
export function release(model: Model, one: One, state = stateOf(model, one)): void {
  one.signup = plain(one.signup)
  if (one.state === 'pending') {
    one.expiresAt = lastEndAfter(model.now)
    return
  }
  one.state = state
  one.isAgain = one.writtenAt !== undefined
}

export function plain({ suspect: _, ...signup }: Signup): Signup {
  return signup
}

/** Erases it now, or when the frozen batch has ended. */
export function erase(model: Model, one: One): void {
  if (one.cells === 'old') one.cells = 'lost'
  if (one.cells === 'kept') one.cells = isFrozen(model, one) ? 'doomed' : 'erased'
  one.isAgain &&= one.cells === 'doomed'
}

export function unfreeze(model: Model): void {
  model.frozen = undefined
  for (const one of model.ones.filter(({ cells }) => cells === 'doomed')) {
    one.cells = 'kept'
    erase(model, one)
  }
}

export function forget(model: Model, person: string): void {
  for (const one of ofPerson(model, person)) {
    // Of who was forgotten before they confirmed, not even the tab is told any more.
    if (!isListed(one)) Object.assign(one, { tab: 'Sheet1', expiresAt: 0 })
    erase(model, one)
    model.departed.delete(one.signup.id)
  }
  for (const link of model.links) if (link.person === person) link.person = ''
  model.buried.add(person)
}

/** Erases what has expired, and what was held for 90 days. */
export function sweep(model: Model): void {
  for (const one of model.ones) {
    const end = isHeld(one) ? one.signup.receivedAt + 90 * day : one.expiresAt
    if ((isPending(one) || isHeld(one)) && end <= model.now) erase(model, one)
  }
}

/**
 * The state after this backup was restored: signups that came later are gone, but what was decided since on those
 * of the backup holds.
 */
export function restored(backup: Model, since: Model): Model {
  const has = (id: SignupId | undefined) => backup.ones.some(({ signup }) => signup.id === id)
  const links = since.links.filter(({ id }) => has(id))
  const model: Model = { ...since, ones: structuredClone(backup.ones), links, frozen: undefined }
  const later = (one: One) => since.ones.find((it) => it.signup.id === one.signup.id) ?? one
  // As they were confirmed.
  for (const one of model.ones.toSorted((a, b) => later(a).position - later(b).position)) {
    const is = later(one)
    const { tab, expiresAt, isMailed, confirmedAt } = is
    if (one.cells === 'doomed') one.cells = 'kept'
    if (!isListed(one))
      Object.assign(one, { signup: is.signup, tab, expiresAt, isMailed, confirmedAt })
    if (!isListed(one) && isListed(is)) enlist(model, one)
    if (one.state === 'held' && isCounted(is)) release(model, one, is.state as 'wanted')
    if (model.departed.has(is.signup.id)) continue
    if (isErased(is) || is.cells === 'doomed') erase(model, one)
  }
  return model
}
