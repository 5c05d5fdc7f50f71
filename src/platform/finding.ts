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

/** Makes findings of the check with this name. */
export function findingsOf(check: string) {
  const of =
    (state: Finding['state']) =>
    (message: string, hint?: string): Finding => ({
      ...{ check, state, message },
      ...(hint !== undefined && { hint }),
    })
  return { ok: of('ok'), warning: of('warning'), fault: of('fault'), skipped: of('skipped') }
}
