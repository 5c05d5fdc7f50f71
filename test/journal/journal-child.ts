/**
 * A second process that has a journal open. Each message names a method; the process calls it and
 * answers with the result.
 * Arguments: the journal's file, its policy as JSON.
 */
import { freezeNext } from '../../harness/freeze-next.ts'
import type { Quota } from '../../src/journal/call-ledger.ts'
import type { Journal } from '../../src/journal/journal.ts'
import type { JournalPolicy } from '../../src/journal/policy.ts'
import { openSqliteJournal } from '../../src/journal/sqlite/sqlite-journal.ts'
import { systemClock } from '../../src/platform/clock.ts'

/** What one process can ask of the other. */
export function childMethods(journal: Journal) {
  const { intake, delivery, reader } = journal
  return {
    append: intake.append.bind(intake),
    recall: intake.recall.bind(intake),
    knows: intake.knows.bind(intake),
    takesTab: intake.takesTab.bind(intake),
    find: intake.find.bind(intake),
    backlog: reader.backlog.bind(reader),
    frozenBatch: delivery.frozenBatch.bind(delivery),
    freezeNext: () => freezeNext(delivery),
    settle: delivery.settle.bind(delivery),
    reserveAll: (account: string, quota: Quota) => reserveAll(journal, account, quota),
  }
}

/** Reserves calls, one after the other, until one has to wait. Returns how many came before it. */
export async function reserveAll(journal: Journal, account: string, quota: Quota): Promise<number> {
  const ledger = journal.callLedger(account, systemClock)
  for (let count = 0; ; count++) {
    if ((await ledger.reserve(quota)) > 0) return count
    // Gives the other process its turn.
    await systemClock.sleep(1)
  }
}

export type ChildMethods = ReturnType<typeof childMethods>

export interface Call {
  readonly id: number
  readonly method: keyof ChildMethods
  readonly values: readonly unknown[]
}

export interface Answer {
  readonly id: number
  readonly value?: unknown
  /** The message of the error that the method threw. */
  readonly error?: string
}

/** The child's main program. */
function answerCalls(file: string, policy: Partial<JournalPolicy>): void {
  const methods = childMethods(openSqliteJournal(file, policy))
  const answer = async ({ id, method, values }: Call): Promise<void> => {
    const run = methods[method] as (...values: readonly unknown[]) => Promise<unknown>
    const told: Answer = await run(...values).then(
      (value) => ({ id, value }),
      (error: unknown) => ({ id, error: String(error) }),
    )
    process.send?.(told)
  }
  process.on('message', (call) => void answer(call as Call))
}

if (import.meta.main) {
  const [file = '', policy = '{}'] = process.argv.slice(2)
  answerCalls(file, JSON.parse(policy) as Partial<JournalPolicy>)
}
