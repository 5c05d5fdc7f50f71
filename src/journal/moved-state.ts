/** How far a journal has come. A journal that only lies there keeps all of it. */
export interface MovedState {
  /** The position of the last signup. */
  readonly signup: number
  /** The highest number that a batch has had. */
  readonly batch: number
  /** When the last batch was settled; 0 when none was. */
  readonly settledAt: number
  /** Grows when somebody is forgotten. */
  readonly forgotten: number
}

/** The journal that moves. */
export interface Source {
  /** The code of its first site. */
  readonly code: string
  readonly state: MovedState
}

export function sameState(one: MovedState, other: MovedState): boolean {
  return textOf(one) === textOf(other)
}

/** The state as it is stored with the moved journal. */
export function textOf({ signup, batch, settledAt, forgotten }: MovedState): string {
  return JSON.stringify({ signup, batch, settledAt, forgotten })
}

export function stateOf(text: string): MovedState {
  return JSON.parse(text) as MovedState
}

/**
 * The refusal of a second move: the journal in the folder has changed since the first one.
 *
 * @param then what was moved
 * @param here the journal in the folder now
 * @param there the journal in the database now
 */
export function wentOn(then: MovedState, here: MovedState, there: MovedState): Error {
  const numbers = (of: (state: MovedState) => number) =>
    `number ${of(then)} at the move, ${of(here)} in DATA_DIR now, ${of(there)} in the database now`
  const way = sameState(then, there)
    ? 'The database has not changed since: give another, empty database in DATABASE_URL, and move again.'
    : 'The database has changed, too. Choose the one to go on with. Bring those signups of the other one that ' +
      'have no row in the spreadsheet yet with rollcall export --since and rollcall import.'
  return new Error(
    'This journal was moved to the database before, and the one in DATA_DIR has changed since. ' +
      `Last signup: ${numbers(({ signup }) => signup)}. Last batch: ${numbers(({ batch }) => batch)}. ` +
      `Both are left as they are, and nothing is lost. ${way}`,
  )
}
