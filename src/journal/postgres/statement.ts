/** A statement of SQL. Its name is used to prepare it once for each connection. */
export interface Statement {
  readonly name: string
  readonly text: string
}

/** Gives each text the name `room.key`. No two rooms have one name. */
export function statementsOf<Key extends string>(
  room: string,
  texts: Readonly<Record<Key, string>>,
): Readonly<Record<Key, Statement>> {
  const named = Object.entries<string>(texts).map(([key, text]) => [
    key,
    { name: `${room}.${key}`, text },
  ])
  return Object.fromEntries(named) as Record<Key, Statement>
}

/** A row of an answer. Whole numbers of all sizes are numbers. */
export type Row = Readonly<Record<string, unknown>>

/** A value that `pg` can bind. */
export type Value = string | number | boolean | null | readonly (string | number | boolean | null)[]
