import type { Problem } from '../src/signup/wire.ts'
import type { Texts } from './texts.ts'

/** The signup failed. `reason` names the text that tells the visitor why; for `closed` the service has the words. */
export class Told extends Error {
  declare readonly reason: keyof Texts
  /** The status of the answer, if there was one. */
  declare readonly status: number | undefined
  declare readonly problem: Problem | undefined
  declare readonly words: string | undefined

  constructor(reason: keyof Texts, status?: number, problem?: Problem, words = problem?.notice) {
    super(reason)
    this.reason = reason
    this.status = status
    this.problem = problem
    this.words = words
  }
}
