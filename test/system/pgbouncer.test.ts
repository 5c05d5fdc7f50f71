import { callLedgerTests } from '../journal/contracts/call-ledger-contract.ts'
import { holdTo } from '../journal/contracts/contract.ts'
import { contracts } from '../journal/contracts/contracts.ts'
import { sharePostgresWorlds } from '../journal/postgres-world.ts'
import { withInstances } from '../journal/several-instances.ts'
import { startPgBouncer } from './world/pgbouncer.ts'

const createWorld = sharePostgresWorlds(startPgBouncer)

for (const [name, tests] of Object.entries(contracts)) {
  holdTo(`PgBouncer, three instances in turn, ${name}`, tests, withInstances(3, createWorld))
}
holdTo('PgBouncer, call ledger: the calls of one account', callLedgerTests, createWorld)
