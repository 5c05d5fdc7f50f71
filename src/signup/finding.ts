/** What one check found out. `rollcall doctor` prints it as one line. */
export interface Finding {
  /** What was checked, such as `clock`. Programs rely on these names. */
  readonly check: string
  /**
   * - `warning`: it works, but it may be a mistake.
   * - `fault`: a person has to do something.
   * - `skipped`: it could not be checked, for a reason that another finding tells.
   */
  readonly state: 'ok' | 'warning' | 'fault' | 'skipped'
  readonly message: string
  /** What to do about it. */
  readonly hint?: string
}

/** What makes the findings of one check. */
export interface FindingMaker {
  readonly ok: (message: string) => Finding
  readonly warning: (message: string, hint?: string) => Finding
  readonly fault: (message: string, hint?: string) => Finding
  readonly skipped: (message: string) => Finding
}

/** Makes findings of the check with this name. */
export function findingsOf(check: string): FindingMaker {
  const of = (state: Finding['state']) => (message: string, hint?: string) => ({
    ...{ check, state, message },
    ...(hint !== undefined && { hint }),
  })
  return { ok: of('ok'), warning: of('warning'), fault: of('fault'), skipped: of('skipped') }
}
