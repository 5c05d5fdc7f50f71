import type { SpreadsheetHandle } from '../../emulators/google-sheets/spreadsheet-handle.ts'
import type { Millis } from '../../src/signup/signup.ts'
import type { Dice } from './dice.ts'

/** People see that a change of access takes Google one to two minutes. */
const spreadsMs = 120 * 1000

export type Access = 'editor' | 'viewer' | 'none'

interface SharingOptions {
  readonly sheet: SpreadsheetHandle
  /** Of our service account. */
  readonly email: string
  readonly dice: Dice
  readonly now: () => Millis
}

/**
 * The access of our service account. For a while after a change each call meets a server of Google that
 * knows of it already, or one that does not.
 */
export class Sharing {
  readonly #options: SharingOptions
  #access: Access = 'editor'
  #before: Access = 'editor'
  #spreadUntil: Millis = 0

  constructor(options: SharingOptions) {
    this.#options = options
  }

  change(access: Access): void {
    this.#before = this.#access
    this.#access = access
    this.#spreadUntil = this.#options.now() + spreadsMs * this.#options.dice.random()
  }

  /** Changes the access at once, for all servers. */
  settle(access: Access): void {
    this.#access = access
    this.#spreadUntil = 0
  }

  /** Gives the next call the access that the server knows of which it meets. */
  meetServer(): void {
    const { sheet, email, dice, now } = this.#options
    const isLate = now() < this.#spreadUntil && dice.chance(0.5)
    sheet.share(email, isLate ? this.#before : this.#access)
  }
}
