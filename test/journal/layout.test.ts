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
      "47401af00bac53111bc300947c418c5bbde14a6f1bc6526d242bd133fb2dfc29",
      "94d7fee98fab59f6a4047b479fd12401c9cd6de5f06187a4ce7a95151df0af75",
    ]
  `)
})
