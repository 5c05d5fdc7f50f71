import type { Dialect } from '../sql.ts'
import { isOf } from '../tables/layout.ts'
import { types } from './schema.ts'

export const postgresDialect: Dialect = {
  given: (name, parameter, columns) => {
    const read = Object.entries(columns).map(([column, kind]) => `"${column}" ${types[kind]}`)
    return `jsonb_to_recordset(${parameter}::jsonb) AS ${name} (${read.join(', ')})`
  },
  lower: (text) => `lower((${text}) COLLATE "C")`,
  id: (parameter) => `${parameter}::uuid`,
  idEnds: (parameter) => `right(signup.id::text, 8) = ${parameter}`,
  // Only the index of tabs has both columns, and a comparison of both begins at the position. With
  // `tab = … AND position > …`, the planner may read by position, past the signups of all other tabs.
  behind: (tab, position) =>
    `(signup.tab, signup.position) > (${tab}, ${position}) AND signup.tab <= ${tab}`,
  between: (tab, after, upto) =>
    `(signup.tab, signup.position) > (${tab}, ${after}) AND (signup.tab, signup.position) <= (${tab}, ${upto})`,
  // Only the index of people has these columns, as above.
  ofPerson: ({ signup: of, person, tab, after }, which = 'listed') =>
    `(${of}.person, ${of}.tab, ${of}.position) > (${person}, ${tab}, ${after})
     AND (${of}.person, ${of}.tab) <= (${person}, ${tab}) AND ${of}.person IS NOT NULL
     AND ${isOf(`${of}.`, which)}`,
  // A usual join may begin with all signups instead.
  signupAt: (position) =>
    `CROSS JOIN LATERAL (SELECT * FROM signup WHERE signup.position = ${position} LIMIT 1) AS signup`,
  ofEach: ({ each, no, columns, from, order, limit }) =>
    `SELECT ${no === undefined ? '' : `${no}, `}found.* FROM ${each}
     CROSS JOIN LATERAL (SELECT ${columns} FROM ${from} ORDER BY ${order} LIMIT ${limit}) AS found`,
  lastPosition: '(SELECT position FROM head)',
  moveLast: 'UPDATE head SET position = position + 1',
}
