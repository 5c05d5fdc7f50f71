import type { Config } from '../config/config.ts'
import type { Secrets } from '../config/secrets.ts'
import type { Journal } from '../journal/contracts/journal.ts'
import type { Reader } from '../journal/contracts/reader.ts'
import { createLog } from '../ops/log.ts'
import type { Clock } from '../platform/clock.ts'
import { noFields } from '../signup/fields-text.ts'
import { signupIds } from '../signup/id.ts'
import type { Millis, SignupId } from '../signup/signup.ts'
import { readDeliveryNote } from '../journal/contracts/delivery-note.ts'
import { journalHomeOf } from './journal-home.ts'
import { partOf } from '../journal/contracts/journal.ts'
import { startService } from './service.ts'

/** A signup of nobody, to show that signups become rows. Disposing of it ends the service that it ran. */
export interface TestSignup extends AsyncDisposable {
  readonly address: string
  /** Where its row goes: a URL or a folder. */
  readonly location: string
  /** Waits for the row. Returns why there is none after a minute, and undefined when there is one. */
  written(signal: AbortSignal): Promise<string | undefined>
  /** Has it erased from the journal and the spreadsheet, now or when a service runs again. */
  erase(): Promise<void>
  /** Waits until it is erased. Returns whether that was done within a minute. */
  erased(signal: AbortSignal): Promise<boolean>
}

const waitMaxMs = 60_000
const lookEveryMs = 100

/**
 * Stores a test signup, and runs the service for its row, with a port of its own.
 *
 * @throws Error when another service runs with this `DATA_DIR`
 */
export async function sendTestSignup(
  config: Config,
  secrets: Secrets,
  clock: Clock,
): Promise<TestSignup> {
  await using opened = new AsyncDisposableStack()
  const service = opened.use(
    await startService({ ...config, host: '127.0.0.1', port: 0 }, secrets, {
      log: createLog('silent'),
    }),
  )
  const { sites } = opened.use(await journalHomeOf(config, secrets, { clock }).openBeside())
  const journal = partOf(sites, config.sites[0])
  const id = signupIds()(clock.now())
  const address = `rollcall-test-${id.slice(-12)}@example.com`
  await journal.intake.append([testSignup(id, address, clock.now())])
  const running = opened.move()
  return {
    address,
    location: service.locations[0] ?? '',
    async written(signal) {
      let problem: string | undefined
      const isSettled = async () => {
        if ((await journal.intake.find(id))?.writtenAt !== undefined) return true
        problem = await whyNot(journal.reader)
        return problem !== undefined
      }
      const isTold = await becomes(isSettled, clock, signal)
      return isTold ? problem : 'it takes longer than a minute.'
    },
    erase: () => erase(journal, address),
    erased(signal) {
      const isRemoved = async () => {
        const { removals, frozen } = await journal.erasure.unfinished()
        return removals + frozen === 0
      }
      return becomes(isRemoved, clock, signal)
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}

function testSignup(id: SignupId, email: string, receivedAt: Millis) {
  const rest = { sheetTab: '', source: 'init', name: '', tags: [], metadata: '', fields: noFields }
  return { id, email, receivedAt, ...rest }
}

/** Why delivery is blocked, or the tab is set aside; undefined when nothing is. */
async function whyNot(reader: Pick<Reader, 'fact'>): Promise<string | undefined> {
  const note = await readDeliveryNote(reader)
  const blocked = note?.delivery.state === 'blocked' ? note.delivery : undefined
  const trouble = blocked ?? note?.tabs[0]
  return trouble && `${trouble.error}. ${trouble.hint}`
}

async function erase({ erasure }: Pick<Journal, 'erasure'>, address: string): Promise<void> {
  await erasure.forget(address)
  for (let after: number | undefined = 0; after !== undefined;) {
    after = (await erasure.eraseNext(after, address)).next
  }
}

/** Whether something becomes true within a minute. */
async function becomes(
  isTrue: () => Promise<boolean>,
  clock: Clock,
  signal: AbortSignal,
): Promise<boolean> {
  const until = clock.elapsed() + waitMaxMs
  while (clock.elapsed() < until) {
    if (await isTrue()) return true
    await clock.sleep(lookEveryMs, signal)
    signal.throwIfAborted()
  }
  return false
}
