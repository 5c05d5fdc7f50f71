import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { layoutSql as postgres } from '../../src/journal/postgres/schema.ts'
import { layoutSql as sqlite } from '../../src/journal/sqlite/schema.ts'
import { layoutVersion } from '../../src/journal/tables/versions.ts'

test('tables that a release has change with a step only', () => {
  const digest = (sql: string) => createHash('sha256').update(sql).digest('hex')
  // When a release has the tables of before, write a step in tables/versions.ts. Then `npm test -- layout -u`.
  expect([layoutVersion, digest(sqlite), digest(postgres)]).toMatchInlineSnapshot(`
    [
      9,
      "2ad73760a4f8fdfa80ac03564efa6747fc79528347f8116c3f29a148dbffac39",
      "f28ede8f72e1ae78ae820a0417a93073e16372202c9ca8eeacc5302e49fff525",
    ]
  `)
})
