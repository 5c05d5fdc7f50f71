/** A statement of SQL. Its name is used to prepare it once for each connection. */
export interface Statement {
  readonly name: string
  readonly text: string
}

/** All statements by name. */
export const statements = new Map<string, Statement>()

/** Gives each text the name `room.key`. @throws Error when there is a statement of that name */
export function statementsOf<Key extends string>(
  room: string,
  texts: Readonly<Record<Key, string>>,
): Readonly<Record<Key, Statement>> {
  const named = Object.entries<string>(texts).map(([key, text]) => {
    const statement = { name: `${room}.${key}`, text }
    if (statements.has(statement.name)) throw new Error(`There are two ${statement.name}.`)
    statements.set(statement.name, statement)
    return [key, statement]
  })
  return Object.fromEntries(named) as Record<Key, Statement>
}

/** A row of an answer. Whole numbers of all sizes are numbers. */
export type Row = Readonly<Record<string, unknown>>

/** A value that `pg` can bind. */
export type Value = string | number | boolean | null | readonly (string | number | boolean | null)[]
