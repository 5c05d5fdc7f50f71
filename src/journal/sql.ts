/**
 * The port between the tables and their engine. A rule is written once, in SQL that both engines take; what
 * they call differently is in their `Dialect`.
 *
 * Parameters are $1, $2 and so on. A column in camel case needs quotes. Flags come back as a boolean or as
 * 0 and 1: read them with `flagOf`.
 */

/** A value that both engines bind. */
export type Value = string | number | boolean | null

/** A row of an answer. Whole numbers of all sizes are numbers. */
export type Row = Readonly<Record<string, unknown>>

/** What columns of given rows may be. */
export type GivenKind = 'number' | 'integer' | 'text' | 'flag'

/** How an engine says what the SQL of both cannot. */
export interface Dialect {
  /** Rows that a parameter brings, as `givenRows` writes them, to stand in FROM under this name. */
  readonly given: (
    name: string,
    parameter: string,
    columns: Readonly<Record<string, GivenKind>>,
  ) => string
  /** A text in lower case. Only ASCII counts, which is enough for our addresses. */
  readonly lower: (text: string) => string
  /** The id of a signup that a parameter brings as text. */
  readonly id: (parameter: string) => string
  /** Whether the id of a signup ends with the eight characters, in lower case, that a parameter brings. */
  readonly idEnds: (parameter: string) => string
  /** The condition for signups of a tab behind a position, to be ordered by `tab, position`. */
  readonly behind: (tab: string, position: string) => string
  /** The condition for signups of a tab behind `after` up to `upto`. */
  readonly between: (tab: string, after: string, upto: string) => string
  /**
   * The condition for signups of a person in a tab behind a position, to be ordered by `person, tab, position`:
   * those in quarantine, or all others.
   */
  readonly ofPerson: (
    of: Readonly<Record<'signup' | 'person' | 'tab' | 'after', string>>,
    which?: 'listed' | 'held',
  ) => string
  /** Joins the signup at a position. */
  readonly signupAt: (position: string) => string
  /**
   * Reads the first rows of a query for each row of `each`, which the query may name. SQLite asks for one
   * row of `each` only, and writes no ORDER BY: the order must be that of the index that the query reads.
   */
  readonly ofEach: (query: QueryOfEach) => string
  /** The position of the last signup of all sites, or 0. */
  readonly lastPosition: string
  /** A statement for behind the one that adds a signup at the position after the last. */
  readonly moveLast: string
}

export interface QueryOfEach {
  /** What stands in FROM, with a name. */
  readonly each: string
  /** The column of `each` that tells whose row it is. Only PostgreSQL reads it: see `queryTogether`. */
  readonly no?: string
  readonly columns: string
  /** What stands behind FROM, conditions included. */
  readonly from: string
  readonly order: string
  /** A number, or a column of `each`. */
  readonly limit: number | string
}

/** A statement of SQL. Its name is used to prepare it once for each connection. */
export interface Statement {
  readonly name: string
  readonly text: (dialect: Dialect) => string
}

/** All statements by name, for the test that looks at their plans. */
export const statements = new Map<string, Statement>()

/** Gives each text the name `group.key`. @throws Error when there is a statement of that name */
export function statementsOf<Key extends string>(
  group: string,
  texts: Readonly<Record<Key, string>> | ((dialect: Dialect) => Readonly<Record<Key, string>>),
): Readonly<Record<Key, Statement>> {
  const textsOf = typeof texts === 'function' ? texts : () => texts
  const byDialect = new Map<Dialect, Readonly<Record<Key, string>>>()
  const textsIn = (dialect: Dialect) => {
    const known = byDialect.get(dialect) ?? textsOf(dialect)
    byDialect.set(dialect, known)
    return known
  }
  const named = (Object.keys(textsOf(anyDialect)) as Key[]).map((key) => {
    const statement = {
      name: `${group}.${key}`,
      text: (dialect: Dialect) => textsIn(dialect)[key],
    }
    if (statements.has(statement.name)) throw new Error(`There are two ${statement.name}.`)
    statements.set(statement.name, statement)
    return [key, statement]
  })
  return Object.fromEntries(named) as Record<Key, Statement>
}

/** Only tells the keys. */
const anyDialect = new Proxy({} as Dialect, { get: () => () => '' })

/** A statement with its values. */
export type Step = readonly [statement: Statement, ...values: Value[]]

export interface Answer {
  readonly rows: readonly Row[]
  /** How many rows it changed. */
  readonly changes: number
}

/** One answer for each step, in their order. */
export type Answers<Steps extends readonly unknown[]> = { readonly [At in keyof Steps]: Answer }

/**
 * What happens in one transaction: lists of steps, each of which may depend on the answers to the lists
 * before. SQLite runs them in one turn of the event loop, PostgreSQL sends each list in one round trip. It
 * may run several times, so it changes nothing but tables.
 */
export type Operation<T> = Generator<readonly Step[], T, readonly Answer[]>

/** Yields these steps as one list. */
export function* ask<const Steps extends readonly Step[]>(
  ...steps: Steps
): Operation<Answers<Steps>> {
  return (yield steps) as Answers<Steps>
}

/** Runs operations side by side: their first lists are asked as one, then their second ones. */
export function* together<const Parts extends readonly Operation<unknown>[]>(
  ...parts: Parts
): Operation<{ readonly [At in keyof Parts]: Parts[At] extends Operation<infer T> ? T : never }> {
  let runs = parts.map((part) => ({ part, next: part.next() }))
  while (runs.some(({ next }) => !next.done)) {
    const answers = yield runs.flatMap(({ next }) => (next.done ? [] : next.value))
    let from = 0
    runs = runs.map(({ part, next }) => {
      if (next.done) return { part, next }
      const own = answers.slice(from, (from += next.value.length))
      return { part, next: part.next(own) }
    })
  }
  return runs.map(({ next }) => next.value) as never
}

/** What a lock protects. SQLite has one writer in all, so it needs no other lock. */
export type Lock =
  /** Signups and tabs. A transaction that needs several locks takes this one first. */
  | { readonly of: 'head' }
  /** What a site has delivered, noted or erased. */
  | { readonly of: 'site'; readonly site: number }
  /** The calls of an account at a provider. */
  | { readonly of: 'account'; readonly account: string }

export const headLock: Lock = { of: 'head' }

export function siteLock(site: number): Lock {
  return { of: 'site', site }
}

/** Whoever adds messages takes this one last: each gets the next number. */
export const messageLock: Lock = { of: 'account', account: 'messages' }

/**
 * The tables of a journal. Every call rejects with `JournalUnavailable` when they cannot be used, and with
 * `OutcomeUnknown`, which is one, when a commit may have happened.
 */
export interface Database {
  /** Answers reads, all of one moment. */
  query<const Steps extends readonly Step[]>(...steps: Steps): Promise<Answers<Steps>>
  /**
   * Answers one read of a statement whose only parameter is given rows. PostgreSQL asks for all who call it
   * in one turn of the event loop at once: each has a row with a `no`, and the answers tell whose they are.
   */
  queryTogether(statement: Statement, given: Given): Promise<readonly Row[]>
  /** Commits these steps, which are sent in one go. */
  change<const Steps extends readonly Step[]>(
    locks: readonly Lock[],
    ...steps: Steps
  ): Promise<Answers<Steps>>
  /**
   * Commits what the operation changes, or nothing when it throws.
   *
   * @param options with `isSynced: false`, a later commit puts this one on disk: for work that would only be done
   *   again, as no lock waits for the disk then
   */
  transact<T>(
    locks: readonly Lock[],
    operation: () => Operation<T>,
    options?: { readonly isSynced: boolean },
  ): Promise<T>
}

/** Runs an operation to its end, in this turn of the event loop. */
export function runNow<T>(operation: Operation<T>, run: (step: Step) => Answer): T {
  let next = operation.next()
  while (!next.done) next = operation.next(next.value.map(run))
  return next.value
}

/** Runs an operation to its end. */
export async function run<T>(
  operation: Operation<T>,
  runAll: (steps: readonly Step[]) => Promise<readonly Answer[]>,
): Promise<T> {
  let next = operation.next()
  while (!next.done) next = operation.next(await runAll(next.value))
  return next.value
}

/** Runs an operation that changes nothing, outside of a transaction: only each list is of one moment. */
export function reading<T>(db: Pick<Database, 'query'>, operation: Operation<T>): Promise<T> {
  return run(operation, (steps) => db.query(...steps))
}

export type Given = Readonly<Record<string, Value>>

/** Rows as the value of a parameter. */
export function givenRows(rows: readonly Given[]): string {
  return JSON.stringify(rows)
}

/** These positions as given rows. */
export function givenPositions(positions: readonly number[]): string {
  return givenRows(positions.map((position) => ({ position })))
}

/** The row of an answer that always has one. @throws Error when there is none */
export function rowOf({ rows: [row] }: Pick<Answer, 'rows'>): Row {
  if (!row) throw new Error('A statement of the journal answered without its row.')
  return row
}

/** How to read a row: each of these columns by its function. */
export function rowReader<Shape extends Readonly<Record<string, (value: unknown) => unknown>>>(
  shape: Shape,
): (row: Row) => { readonly [Column in keyof Shape]: ReturnType<Shape[Column]> } {
  const columns = Object.entries(shape)
  return (row) =>
    Object.fromEntries(columns.map(([name, read]) => [name, read(row[name])])) as never
}

/** Whether a flag is set. */
export function flagOf(value: unknown): boolean {
  return value === true || value === 1
}

/** A number, or undefined when the column is null or there is no row. */
export function numberOf(value: unknown): number | undefined {
  return value === null || value === undefined ? undefined : Number(value)
}

/** A text, or undefined when the column is null or there is no row. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
