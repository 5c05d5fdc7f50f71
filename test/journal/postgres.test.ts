import { holdTo } from './contracts/contract.ts'
import { contracts } from './contracts/contracts.ts'
import { sharePostgresWorlds } from './postgres-world.ts'

const createWorld = sharePostgresWorlds()

// What differs most between the engines. The rest is in `npm run test:slow`.
const first = [
  'intake log: accepted signups',
  'intake log: used challenge tokens',
  'intake log: duplicates',
  'intake log: repeated requests',
  'intake log: seats',
  'intake log: two instances append at once',
  'delivery log: batches',
  'delivery log: two instances',
  'quarantine: released signups',
] as const
for (const name of first) holdTo(`PostgreSQL, ${name}`, contracts[name] ?? [], createWorld)
