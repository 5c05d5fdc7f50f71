import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { crowdIn, type makeCrowd } from '../../harness/crowd.ts'
import { tempFolder } from '../../harness/temp-folder.ts'
import type { Journal } from '../../src/journal/contracts/journal.ts'
import { openSqliteJournal } from '../../harness/sqlite-journal.ts'

/** SQLite has an index of addresses then. */
const policy = { duplicates: 'ignore' } as const

export type Crowd = ReturnType<typeof makeCrowd>

/** A folder with a `DATA_DIR`, removed at the end. */
export async function dataFolder() {
  const folder = await tempFolder()
  const dataDir = join(folder.path, 'data')
  await mkdir(dataDir, { mode: 0o700 })
  const file = join(dataDir, 'journal.db')
  return {
    ...{ dataDir, file, backup: join(folder.path, 'backup.db'), path: folder.path },
    open: () => openSqliteJournal(file, policy),
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  }
}

export const emailsOf = (crowd: Crowd) => crowd.map(({ email }) => email)

export async function append({ intake }: Journal, crowd: Crowd): Promise<void> {
  for (let at = 0; at < crowd.length; at += 100) await intake.append(crowd.slice(at, at + 100))
}

/** Forgets these people, one in eight at a time, and then says that their rows are gone. */
export async function forget({ erasure }: Journal, crowd: Crowd): Promise<void> {
  for (let part = 0; part < 8; part++) {
    for (const { email } of crowd.filter((_, at) => at % 8 === part)) await erasure.forget(email)
    for (let next: number | undefined = 0; next !== undefined;) {
      next = (await erasure.eraseNext(next)).next
    }
  }
  await finish(erasure)
}

/** Says that the rows of all forgotten people are gone. */
export async function finish(erasure: Journal['erasure']): Promise<void> {
  for (let page = await erasure.removals(0); page.length > 0; page = await erasure.removals(0)) {
    for (const { position } of page) await erasure.removed(position, { wasFound: true, others: 0 })
  }
  expect(await erasure.scrub()).toBe(true)
}

/** Which of these people have their address in a file of the folder. */
export async function left(dataDir: string, crowd: Crowd): Promise<readonly string[]> {
  const found = await crowdIn(dataDir)
  return emailsOf(crowd).filter((email) => found.has(email))
}
