/**
 * A second process on the journal of a running service. It appends, reads and reserves calls until it is
 * killed, and tells its parent of each answered append and of each call. Arguments: the journal's file,
 * a seed, how often it was killed before, the account of the calls, the calls a minute.
 */
import { setTimeout as sleep } from 'node:timers/promises'

import { seededRandom } from '../../emulators/google-sheets/faults.ts'
import { makeSignup } from '../../harness/make-signup.ts'
import { openSqliteJournal } from '../../harness/sqlite-journal.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { drawTerms, soakPolicy, type SoakAppend, type SoakCall } from './soak-terms.ts'

const [file = '', seed = '', life = '', account = '', perMinute = ''] = process.argv.slice(2)
const random = seededRandom(Number(seed))
await using journal = openSqliteJournal(file, soakPolicy)
let count = 0

async function append(): Promise<void> {
  const { tab, key, token } = drawTerms(random)
  const email = `second${life}.${(count += 1)}@example.com`
  const idempotency = key === undefined ? undefined : { space: '', key, fingerprint: email }
  const signup = makeSignup({ email, sheetTab: tab, receivedAt: Date.now() })
  const answer = await journal.intake.append([signup], { idempotency, token })
  if (answer.kind !== 'appended') return
  const isTaken = answer.results[0] !== undefined
  const told: SoakAppend = { email, isTaken, key, token }
  process.send?.(told)
}

async function read(): Promise<void> {
  let last = 0
  for (;;) {
    const page = await journal.reader.page(last, 500)
    for (const { position } of page) {
      if (position <= last) throw new Error(`Position ${position} came after ${last}.`)
      last = position
    }
    if (page.length === 0) last = 0
    await sleep(5)
  }
}

/** Reserves calls from the service's quota. */
async function call(): Promise<never> {
  const ledger = journal.callLedger(account, systemClock)
  const quota = { perMinute: Number(perMinute), perDay: 1_000_000 }
  for (;;) {
    await sleep(random() * 2000)
    if ((await ledger.reserve(quota)) > 0) continue
    const told: SoakCall = { calledAt: Date.now() }
    process.send?.(told)
  }
}

async function visit(): Promise<never> {
  for (;;) {
    await append()
    await sleep(random() * 10)
  }
}

await Promise.all([visit(), visit(), visit(), read(), call()])
