import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

import { tempFolder } from '../../harness/temp-folder.ts'
import type { Journal } from '../../src/journal/journal.ts'
import type { JournalPolicy } from '../../src/journal/policy.ts'
import { openSqliteJournal } from '../../src/journal/sqlite/sqlite-journal.ts'
import type { Answer, Call, ChildMethods } from './journal-child.ts'

/** Another process with the same journal open: each method runs there. */
export interface OtherProcess extends ChildMethods, AsyncDisposable {
  /** Ends it at once, as a crash does. */
  kill(): Promise<void>
}

/** Runs `work` with a journal here and another process that has the same journal open. */
export async function withProcess(
  work: (here: Journal, other: OtherProcess) => Promise<void>,
  policy: Partial<JournalPolicy> = {},
): Promise<void> {
  await using folder = await tempFolder()
  const file = join(folder.path, 'journal.db')
  await using here = openSqliteJournal(file, policy)
  await using other = startProcess(file, policy)
  await work(here, other)
}

function startProcess(file: string, policy: Partial<JournalPolicy>): OtherProcess {
  const program = join(import.meta.dirname, 'journal-child.ts')
  // 'advanced' keeps undefined values, which JSON would drop.
  const child = fork(program, [file, JSON.stringify(policy)], { serialization: 'advanced' })
  const gone = once(child, 'close')
  const waiting = new Map<number, PromiseWithResolvers<unknown>>()
  child.on('message', (message) => {
    const { id, value, error } = message as Answer
    const { resolve, reject } = waiting.get(id) ?? Promise.withResolvers<unknown>()
    waiting.delete(id)
    if (error === undefined) resolve(value)
    else reject(new Error(error))
  })
  child.on('close', (code) => {
    for (const { reject } of waiting.values()) reject(new Error(`The process ended with ${code}.`))
  })
  let calls = 0
  const ask = (method: keyof ChildMethods, values: readonly unknown[]) => {
    const call: Call = { id: (calls += 1), method, values }
    const answer = Promise.withResolvers<unknown>()
    waiting.set(call.id, answer)
    child.send(call)
    return answer.promise
  }
  const kill = async () => {
    child.kill('SIGKILL')
    await gone
  }
  const own = { kill, [Symbol.asyncDispose]: kill }
  return new Proxy(own as unknown as OtherProcess, {
    get: (_, name): unknown =>
      name in own
        ? Reflect.get(own, name)
        : (...values: unknown[]) => ask(name as keyof ChildMethods, values),
  })
}
