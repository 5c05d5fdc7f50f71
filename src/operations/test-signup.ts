import { readDeliveryNote } from '../journal/contracts/delivery-log.ts'
import type { Journal } from '../journal/contracts/journal.ts'
import type { Reader } from '../journal/contracts/reader.ts'
import type { Clock } from '../platform/clock.ts'
import { noFields } from '../signup/field.ts'
import { signupIds } from '../signup/id.ts'
import { eraseAll, isTrueBy } from './forget.ts'

const waitMaxMs = 60_000

/**
 * Stores a signup of nobody, to show that signups become rows. A service has to run meanwhile.
 *
 * @param stop aborts the waiting
 */
export async function sendTestSignup(
  { intake, reader, erasure }: Pick<Journal, 'intake' | 'reader' | 'erasure'>,
  clock: Clock,
  stop: AbortSignal,
) {
  const receivedAt = clock.now()
  const id = signupIds()(receivedAt)
  const email = `rollcall-test-${id.slice(-12)}@example.com`
  const rest = { sheetTab: '', source: 'init', name: '', tags: [], metadata: '', fields: noFields }
  const answer = await intake.append([{ id, email, receivedAt, ...rest }])
  const isClosed = answer.kind === 'appended' && answer.results.length === 0

  /** Whether something becomes true within a minute. */
  async function becomes(isTrue: () => Promise<boolean>): Promise<boolean> {
    const became = await isTrueBy(clock.elapsed() + waitMaxMs, isTrue, { clock, stop })
    stop.throwIfAborted()
    return became
  }

  return {
    address: email,

    /** Waits for the row. Returns why there is none after a minute, and undefined when there is one. */
    async written(): Promise<string | undefined> {
      if (isClosed) return 'signups are closed (CLOSES_AT, CLOSES_AFTER).'
      let problem: string | undefined
      const isTold = await becomes(async () => {
        if ((await intake.find(id))?.writtenAt !== undefined) return true
        problem = await whyNot(reader)
        return problem !== undefined
      })
      return isTold ? problem : 'it takes longer than a minute.'
    },

    /** Has it erased from the journal and the spreadsheet, now or when a service runs again. */
    async erase(): Promise<void> {
      await eraseAll(erasure, email, { searched: () => {}, stop })
    },

    /** Waits until it is erased. Returns whether that was done within a minute. */
    erased: () =>
      becomes(async () => {
        const { removals, frozen } = await erasure.unfinished()
        return removals + frozen === 0
      }),
  }
}

/** Why delivery is blocked, or the tab is set aside; undefined when nothing is. */
async function whyNot(reader: Pick<Reader, 'fact'>): Promise<string | undefined> {
  const note = await readDeliveryNote(reader)
  const blocked = note?.delivery.state === 'blocked' ? note.delivery : undefined
  const trouble = blocked ?? note?.tabs[0]
  return trouble && `${trouble.error}. ${trouble.hint}`
}
