import { callLedgerTests } from '../journal/call-ledger-contract.ts'
import { holdTo } from '../journal/contract.ts'
import { contracts } from '../journal/contracts.ts'
import { sharePostgresWorlds } from '../journal/postgres-world.ts'
import { withInstances } from '../journal/several-instances.ts'
import { startPgBouncer } from './pgbouncer.ts'

const createWorld = sharePostgresWorlds(startPgBouncer)

for (const [name, tests] of Object.entries(contracts)) {
  holdTo(`PgBouncer, three instances in turn, ${name}`, tests, withInstances(3, createWorld))
}
holdTo('PgBouncer, call ledger: the calls of one account', callLedgerTests, createWorld)
