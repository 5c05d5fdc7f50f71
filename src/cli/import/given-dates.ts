import type { Millis } from '../../signup/signup.ts'
import { iso } from '../terminal/words.ts'
import { isDayNumber } from './moment.ts'

export interface DatesReport {
  readonly earliest: string | null
  readonly latest: string | null
  /** Rows that have no date, and get the time of the import. */
  readonly without: number
  /** How the first date was read, and the first day number of Excel. */
  readonly examples: readonly DateExample[]
}

interface DateExample {
  readonly text: string
  readonly isDayNumber: boolean
  readonly at: string
}

/** The dates that the rows of a file have. */
export class GivenDates {
  #earliest: Millis | undefined
  #latest: Millis | undefined
  #without = 0
  readonly #examples: DateExample[] = []

  /** @param text the date as the file has it; undefined without one */
  note(text: string | undefined, at: Millis): void {
    if (text === undefined) {
      this.#without += 1
      return
    }
    this.#earliest = Math.min(at, this.#earliest ?? at)
    this.#latest = Math.max(at, this.#latest ?? at)
    const isNumber = isDayNumber(text)
    if (this.#examples.some((it) => it.isDayNumber === isNumber)) return
    this.#examples.push({ text: text.trim(), isDayNumber: isNumber, at: iso(at) })
  }

  get report(): DatesReport {
    return {
      earliest: this.#earliest === undefined ? null : iso(this.#earliest),
      latest: this.#latest === undefined ? null : iso(this.#latest),
      without: this.#without,
      examples: this.#examples,
    }
  }
}
