// @module-tag slow
import { expect, test } from 'vitest'

import { makeSignup, makeSignups } from '../../harness/make-signup.ts'
import { startPostgresProxy } from '../../harness/postgres-proxy.ts'
import { startPostgres } from '../../harness/postgres-server.ts'
import { openPostgresJournal } from '../../harness/postgres-journal.ts'
import { limits } from './transaction-world.ts'

test.each(['cut before', 'cut after', 'hang before', 'hang after'] as const)(
  'an import whose commit has no answer adds each signup once, and says which ones: %s',
  async (fault) => {
    await using server = await startPostgres()
    await using database = await server.createDatabase()
    await using proxy = await startPostgresProxy(server.port)
    const behind = server.url(database.name, proxy.port)
    await using journal = await openPostgresJournal(behind, {}, { limits })
    const [first = makeSignup(), ...rest] = makeSignups(5)
    await journal.imports.add([first])
    proxy.fail(/^COMMIT/, fault)
    const again = makeSignup({ email: first.email.toUpperCase() })
    const twice = makeSignup({ email: rest[0]?.email ?? '' })
    expect(await journal.imports.add([again, ...rest, twice])).toEqual([
      'known',
      ...rest.map(() => 'added'),
      'known',
    ])
    const added = (await journal.reader.page(0, 99)).map(({ signup }) => signup.email)
    expect(added).toEqual([first, ...rest].map(({ email }) => email))
    expect(await journal.reader.backlog()).toBe(5)
  },
)
