import { callLedgerTests } from './call-ledger-contract.ts'
import { comparisonTests } from './comparison-contract.ts'
import { holdTo } from './contract.ts'
import { contracts } from './contracts.ts'
import { previewedImports } from './import-log-contract.ts'
import { besideFirstSite } from './second-site.ts'
import { sharePostgresWorlds } from './postgres-world.ts'

const createWorld = sharePostgresWorlds()

for (const [name, tests] of Object.entries(contracts)) {
  holdTo(`PostgreSQL, ${name}`, tests, createWorld)
}
holdTo('PostgreSQL, comparison', comparisonTests, createWorld)
holdTo('PostgreSQL, import log: previews', previewedImports, createWorld)
holdTo('PostgreSQL, call ledger: the calls of one account', callLedgerTests, createWorld)

/** A part, as each test needs a database. The whole suite runs for a second site on SQLite. */
const ofSites = ['delivery log: batches', 'erasure: erased signups', 'retention']
for (const name of ofSites) {
  const tests = contracts[name] ?? []
  holdTo(
    `PostgreSQL, a second site beside a first one, ${name}`,
    tests,
    besideFirstSite(createWorld),
  )
}
