import { holdTo } from './contract.ts'
import { contracts } from './contracts.ts'
import { sharePostgresWorlds } from './postgres-world.ts'
import { withInstances } from './several-instances.ts'

const createWorld = sharePostgresWorlds()

for (const [name, tests] of Object.entries(contracts)) {
  holdTo(`PostgreSQL, three instances in turn, ${name}`, tests, withInstances(3, createWorld))
}
