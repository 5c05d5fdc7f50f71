import type { Dialect } from '../sql.ts'
import { isOf } from '../tables/layout.ts'

export const sqliteDialect: Dialect = {
  given: (name, parameter, columns) => {
    const read = Object.keys(columns).map((column) => `value ->> '${column}' AS "${column}"`)
    return `(SELECT ${read.join(', ')} FROM json_each(${parameter})) AS ${name}`
  },
  lower: (text) => `lower(${text})`,
  id: (parameter) => `unhex(replace(${parameter}, '-', ''))`,
  idEnds: (parameter) => `substr(signup.id, -4) = unhex(${parameter})`,
  behind: (tab, position) => `signup.tab = ${tab} AND signup.position > ${position}`,
  between: (tab, after, upto) =>
    `signup.tab = ${tab} AND signup.position > ${after} AND signup.position <= ${upto}`,
  ofPerson: ({ signup, person, tab, after }, which = 'listed') =>
    `${signup}.person = ${person} AND ${signup}.tab = ${tab} AND ${signup}.position > ${after}
     AND ${isOf(`${signup}.`, which)}`,
  // CROSS JOIN keeps the order of the tables, so SQLite looks each position up.
  signupAt: (position) => `CROSS JOIN signup ON signup.position = ${position}`,
  // SQLite has no LATERAL. It would sort all rows, because it does not know that `each` has one. A limit that
  // is bound would make it plan the statement anew for each run.
  ofEach: ({ each, columns, from, limit }) => {
    const most = typeof limit === 'number' ? limit : `(SELECT ${limit} FROM ${each})`
    return `SELECT ${columns} FROM ${each} CROSS JOIN ${from} LIMIT ${most}`
  },
  lastPosition: '(SELECT coalesce(max(position), 0) FROM signup)',
  moveLast: 'SELECT 1',
}
