// @module-tag slow
import { join } from 'node:path'

import { SqliteDatabase } from '../../src/journal/sqlite/database.ts'
import type { JournalPolicy } from '../../src/journal/contracts/journal.ts'
import { SharedLease } from '../../harness/shared-lease.ts'
import { tempFolder } from '../../harness/temp-folder.ts'
import { callLedgerTests } from '../journal/contracts/call-ledger-contract.ts'
import { holdTo, type JournalWorld } from '../journal/contracts/contract.ts'
import { contracts } from '../journal/contracts/contracts.ts'
import { holdLeaseTo } from '../journal/contracts/lease-contract.ts'
import { withTwoInstances } from '../journal/several-instances.ts'
import { createDice } from './dice.ts'
import { openSharedJournal } from './simulated/shared-journal.ts'
import { SimulatedTime } from './simulated/simulated-time.ts'
import { StoreLink } from './simulated/store-link.ts'

/** A shared store without faults. Its time goes on by itself until it is disposed of. */
async function createWorld() {
  const folder = await tempFolder()
  const time = new SimulatedTime()
  const dice = createDice(1)
  let setBackMs = 0
  const storeTime = () => time.now - setBackMs
  const lease = new SharedLease({ elapsed: storeTime })
  let instances = 0
  const over = new AbortController()
  const passing = (async () => {
    const isOver = () => over.signal.aborted
    while (!isOver()) await time.runUntil(Infinity, isOver)
  })()
  return {
    open: (policy: Partial<JournalPolicy> = {}) =>
      openSharedJournal({
        name: `instance ${(instances += 1)}`,
        link: new StoreLink({ time, dice, sender: time }),
        connect: () =>
          new SqliteDatabase(join(folder.path, 'journal.db'), {
            access: 'own',
            clock: time.clock,
          }),
        policy,
        lease,
        storeTime,
        clock: time.clock,
      }),
    async pass(ms: number) {
      if (ms < 0) setBackMs -= ms
      else await time.clock.sleep(ms)
    },
    async [Symbol.asyncDispose]() {
      over.abort()
      await passing
      await folder[Symbol.asyncDispose]()
    },
  } satisfies JournalWorld & { pass(ms: number): Promise<void> }
}

for (const [name, tests] of Object.entries(contracts)) {
  holdTo(`a simulated shared store, ${name}`, tests, createWorld)
}
holdTo(
  'a simulated shared store, two instances, delivery log: batches',
  contracts['delivery log: batches'] ?? [],
  withTwoInstances(createWorld),
)
holdTo('a simulated shared store, call ledger', callLedgerTests, createWorld)
holdLeaseTo('a simulated shared store, lease', createWorld)
