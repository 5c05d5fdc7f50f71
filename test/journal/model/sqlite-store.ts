import { copyFileSync, existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { openSqliteJournal } from '../../../harness/sqlite-journal.ts'
import { tempFolder } from '../../../harness/temp-folder.ts'
import type { SitePolicies } from '../../../src/journal/contracts/journal.ts'
import { copyBackup, copyJournal } from '../../../src/journal/sqlite/copy.ts'
import { makeRestored } from '../../../src/journal/sqlite/restore.ts'
import { systemClock } from '../../../src/platform/clock.ts'
import type { Store } from './world.ts'

/** A journal in a folder. A crash leaves a copy of its files, as a kill leaves them. */
export async function sqliteStore(): Promise<Store> {
  const folder = await tempFolder()
  let files = 0
  const newFile = () => join(folder.path, `journal-${(files += 1)}.db`)
  let file = newFile()
  let backup = file
  let policies: SitePolicies = new Map()
  return {
    open: async (policy, assertWritable) => {
      policies = new Map([['default', policy]])
      return openSqliteJournal(file, policy, { assertWritable })
    },
    crash() {
      const copy = newFile()
      for (const end of ['', '-wal'])
        if (existsSync(file + end)) copyFileSync(file + end, copy + end)
      file = copy
    },
    copies: {
      async backUp() {
        backup = newFile()
        writeFileSync(backup, '')
        await copyJournal(file, backup, new AbortController().signal)
      },
      async restore() {
        const copy = newFile()
        copyBackup(backup, copy)
        await makeRestored(copy, { policies, clock: systemClock, accounts: [] }, file)
        file = copy
      },
    },
    journalNow: (now) => now,
    startsAt: Date.UTC(2026, 10, 20, 10),
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  }
}
