import { expect, vi } from 'vitest'

import { makeSignup } from '../../../harness/make-signup.ts'
import { JournalUnavailable } from '../../../src/journal/contracts/errors.ts'
import type { Journal, JournalPolicy } from '../../../src/journal/contracts/journal.ts'
import type { Signup, SignupId } from '../../../src/signup/signup.ts'
import { isErased, isListed, isReleased, type Model, type One, waitMs } from './model.ts'

/** What comes upon an act: a kill in one of its transactions, 0 in none, and that somebody does it again. */
export interface Faults {
  readonly killedIn: number
  readonly isTwice: boolean
}

/** A journal that can be left as a kill leaves it, and backups of it where the engine makes its own. */
export interface Store extends AsyncDisposable {
  open(policy: Partial<JournalPolicy>, assertWritable: () => void): Promise<Journal>
  /** Leaves the state of now to the next `open`, whatever is still done to the open journal. */
  crash(): void
  readonly copies?: { backUp(): Promise<void>; restore(): Promise<void> }
  /** The journal's own clock, which tells what has expired. */
  journalNow(now: number): number
  readonly startsAt: number
}

/** Two signups of one person never have one time. */
export interface Row {
  readonly id: SignupId
  readonly tab: string
  readonly email: string
  readonly receivedAt: number
}

/** When a mail went to whom, or would have gone; to an unknown person when it has no address any more. */
export interface Mail {
  readonly person: string
  readonly at: number
}

export const people = ['ada', 'bob', 'Eve', 'kay'].map((name) => `${name}@example.com`)
const tabs = ['Sheet1', 'News', '']

/** A journal, the model of it, and what is outside of both, which no restore takes back. */
export class World implements AsyncDisposable {
  readonly store: Store
  journal!: Journal
  model: Model
  backup: Model | undefined
  /** What the spreadsheet has. */
  rows: Row[] = []
  /** What webhooks have told, as `type id`. */
  readonly told = new Set<string>()
  readonly mails: Mail[] = []
  faults: Faults = { killedIn: 0, isTwice: false }
  /** How often an act was killed in a transaction. */
  kills = 0
  #killedIn = 0
  #names = 0

  constructor(store: Store, policy: Model['policy']) {
    const none = { ones: [], links: [], frozen: undefined, blocks: new Map() }
    this.store = store
    this.model = { policy, now: store.startsAt, ...none, buried: new Set(), departed: new Set() }
  }

  async open(): Promise<void> {
    const { ignoresDuplicates, ...policy } = this.model.policy
    const duplicates = ignoresDuplicates ? 'ignore' : 'append'
    this.journal = await this.store.open(
      { ...policy, duplicates, confirmation: { waitMs } },
      () => {
        if (this.#killedIn > 0 && --this.#killedIn === 0) throw new JournalUnavailable('killed')
      },
    )
    await this.journal.webhooks.follow(['crm'], this.model.now)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.journal[Symbol.asyncDispose]()
  }

  /** Does it as often as it takes, with a crash after a kill, and once more when it is repeated. */
  async do<T>(todo: (journal: Journal, isAgain: boolean) => Promise<T>): Promise<T> {
    this.#killedIn = this.store.copies ? this.faults.killedIn : 0
    const said = await todo(this.journal, false).catch(async (error: unknown) => {
      if (!(error instanceof JournalUnavailable)) throw error
      this.kills += 1
      await this.crash()
      return todo(this.journal, false)
    })
    this.#killedIn = 0
    if (this.faults.isTwice) await todo(this.journal, true)
    return said
  }

  async crash(): Promise<void> {
    this.#killedIn = 0
    this.store.crash()
    await this.journal[Symbol.asyncDispose]()
    await this.open()
  }

  pass(ms: number): void {
    this.model.now += ms
    vi.setSystemTime(this.model.now)
  }

  /** A name that nobody has had. */
  name(): string {
    return `${(this.#names += 1)}`
  }

  /** A signup of this person; every fourth one is suspect. */
  signup(email: string, pick: number): Signup {
    const name = this.name()
    return makeSignup({
      email: pick % 3 === 0 ? email.toUpperCase() : email,
      sheetTab: tabs[pick % tabs.length] ?? '',
      receivedAt: this.model.now + Number(name),
      name,
      ...(pick % 4 === 1 && { suspect: ['links'] }),
    })
  }
}

export function statusOf({ store, model: state }: World, one: One) {
  const { id, receivedAt } = one.signup
  const told = { id, receivedAt, position: one.position, sheetTab: one.tab }
  if (isListed(one)) return { ...told, ...(one.writtenAt && { writtenAt: one.writtenAt }) }
  // Nobody learns why and when one has ended for which no mail went.
  const isSecret = !one.isMailed && isErased(one) && one.expiresAt > 0
  if (isSecret || one.signup.suspect || isReleased(state, one))
    return { ...told, beside: expect.stringMatching(/^(pending|expired)$/) }
  const isOver = one.expiresAt <= store.journalNow(state.now)
  return { ...told, beside: isOver ? 'expired' : 'pending' }
}
