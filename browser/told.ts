import type { Problem } from '../src/signup/wire.ts'
import type { Texts } from './texts.ts'

/** The signup failed. `reason` names the text that tells the visitor why. */
export class Told extends Error {
  readonly reason: keyof Texts
  /** The status of the answer, if there was one. */
  readonly status: number | undefined
  readonly problem: Problem | undefined

  constructor(reason: keyof Texts, status?: number, problem?: Problem) {
    super(problem?.detail ?? reason)
    this.reason = reason
    this.status = status
    this.problem = problem
  }
}
