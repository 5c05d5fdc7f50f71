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
      "b76518505344e05f285bbd615f075ee5cb53f24dfb0b3118957eb178c1db88c3",
      "04908f9a62c1805fe8d4dfa59e0aa4d57dd09fe75b5a434123775df276bcc6f0",
    ]
  `)
})
