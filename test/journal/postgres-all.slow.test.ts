// @module-tag slow
import { adminLogTests } from './contracts/admin-log-contract.ts'
import { callLedgerTests } from './contracts/call-ledger-contract.ts'
import { comparisonTests } from './contracts/comparison-contract.ts'
import { holdTo } from './contracts/contract.ts'
import { contracts } from './contracts/contracts.ts'
import { previewedImports } from './contracts/import-log-contract.ts'
import { besideFirstSite } from './second-site.ts'
import { sharesTests } from './contracts/shares-contract.ts'
import { sitesTests } from './contracts/sites-contract.ts'
import { sitesErasureTests } from './contracts/sites-erasure-contract.ts'
import { sharePostgresWorlds } from './postgres-world.ts'

const createWorld = sharePostgresWorlds()

// For the only site the suite runs through PgBouncer, in `npm run test:system`.
const secondSite = besideFirstSite(createWorld)
for (const [name, tests] of Object.entries(contracts)) {
  holdTo(`PostgreSQL, a second site beside a first one, ${name}`, tests, secondSite)
}
holdTo('PostgreSQL, a second site beside a first one, comparison', comparisonTests, secondSite)
holdTo('PostgreSQL, two sites', sitesTests, createWorld)
holdTo('PostgreSQL, two sites', sitesErasureTests, createWorld)
holdTo('PostgreSQL, shares', sharesTests, createWorld)
holdTo('PostgreSQL, admin log', adminLogTests, createWorld)
holdTo('PostgreSQL, import log: previews', previewedImports, createWorld)
holdTo('PostgreSQL, call ledger: the calls of one account', callLedgerTests, createWorld)
