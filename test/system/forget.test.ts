import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, expect, test } from 'vitest'

import { endWithUs } from '../../harness/end-with-us.ts'
import { environmentOfAnyProgram } from '../../harness/environment.ts'
import { freezeNext } from '../../harness/freeze-next.ts'
import { makeSignup } from '../../harness/make-signup.ts'
import { runCommand } from '../../harness/run-command.ts'
import { projectRoot } from '../../harness/source-file.ts'
import { type TempFolder, tempFolder } from '../../harness/temp-folder.ts'
import { openSqliteJournal } from '../../harness/sqlite-journal.ts'
import { filesWith } from '../../src/platform/node/files-with.ts'
import { createWorkbook } from '../../src/spreadsheet/workbook/workbook.ts'

const [ada, bob] = ['ada@example.com', 'bob@example.com']
const policy = { duplicates: 'ignore' } as const

/** The system calls by which `forget` changes what is on the disk, and the files. */
const changes = [
  ['fsync', 'journal.db-wal'],
  ['write,pwrite64,writev,pwritev', 'sheets/.rollcall/half.tmp'],
  ['fsync', 'sheets/.rollcall/half.tmp'],
  ['rename,renameat,renameat2', 'sheets/.rollcall/half.tmp'],
  ['fsync', 'sheets'],
  ['fsync', 'journal.db'],
  ['ftruncate', 'journal.db-wal'],
] as const

/** A `DATA_DIR` with the rows of two people. */
let written: TempFolder
beforeAll(async () => {
  written = await tempFolder()
  await using journal = openSqliteJournal(join(written.path, 'journal.db'), policy)
  await journal.intake.append([ada, bob].map((email) => makeSignup({ email })))
  const batch = (await freezeNext(journal.delivery)) ?? expect.fail()
  const workbook = createWorkbook({ directory: join(written.path, 'sheets') })
  await workbook.write(batch, AbortSignal.timeout(60_000))
  await journal.delivery.settle(batch.number, 1)
})
afterAll(() => written[Symbol.asyncDispose]())

test.concurrent.each([
  ['and the next one removes the row', false],
  ['and the next one removes the row, even when its cells expire in between', true],
])('forget is killed at each change that it makes on the disk, %s', async (_, expires) => {
  const seen = new Set<string>()
  for (const [call, file] of changes) {
    for (let time = 1; ; time += 1) {
      await using folder = await tempFolder()
      const dataDir = folder.path
      await cp(written.path, dataDir, { recursive: true })
      const wasKilled = await killForgetAt(call, file, time, dataDir)
      const left = await leftIn(dataDir)
      if (wasKilled) seen.add(left)
      const about = `${call} ${file} ${time}: ${left}`
      // Nobody could remove the row of cells that expire before the tombstone is set.
      if (expires && left.includes('tombstone')) await expireAll(dataDir)

      const { code } = await runCommand(['forget', '-'], { dataDir, input: ada })
      expect(code, about).toBe(0)
      expect(await filesWith(dataDir, ada), about).toEqual([])
      expect(await readFile(join(dataDir, 'sheets/Sheet1.csv'), 'utf8'), about).toContain(bob)
      await using journal = openSqliteJournal(join(dataDir, 'journal.db'), policy)
      await journal.intake.append([makeSignup({ email: ada })])
      expect((await freezeNext(journal.delivery))?.tabs[0]?.signups, about).toHaveLength(1)
      if (!wasKilled) break
    }
  }
  expect([...seen].toSorted()).toEqual([
    'cells, row',
    'tombstone',
    'tombstone, cells, row',
    'tombstone, removal',
    'tombstone, removal, row',
  ])
})

/** Forgets Ada. Returns whether the process came to make this system call on the file for the nth time. */
async function killForgetAt(call: string, file: string, time: number, dataDir: string) {
  const child = spawn(
    'strace',
    [
      ...['-D', '-f', '-qqq', '-o', '/dev/null', '-P', join(dataDir, file)],
      ...['-e', `inject=${call}:signal=SIGKILL:when=${time}`],
      ...[process.execPath, join(projectRoot, 'src/start.js'), 'forget', '-'],
    ],
    {
      // strace counts the calls of each thread by itself.
      env: { ...environmentOfAnyProgram(), DATA_DIR: dataDir, UV_THREADPOOL_SIZE: '1' },
      stdio: ['pipe', 'ignore', 'inherit'],
    },
  )
  endWithUs(child).stdin.end(ada)
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null]
  expect({ code, signal }).toEqual(
    signal === null ? { code: 0, signal } : { code, signal: 'SIGKILL' },
  )
  return signal !== null
}

/** What there is of Ada. */
async function leftIn(dataDir: string): Promise<string> {
  using db = new DatabaseSync(join(dataDir, 'journal.db'))
  const has = (sql: string) => db.prepare(sql).get() !== undefined
  return [
    ...(has('SELECT 1 FROM tombstone') ? ['tombstone'] : []),
    ...(has(`SELECT 1 FROM signup WHERE email = '${ada}'`) ? ['cells'] : []),
    ...(has('SELECT 1 FROM removal') ? ['removal'] : []),
    ...((await readFile(join(dataDir, 'sheets/Sheet1.csv'), 'utf8')).includes(ada) ? ['row'] : []),
  ].join(', ')
}

async function expireAll(dataDir: string): Promise<void> {
  await using journal = openSqliteJournal(join(dataDir, 'journal.db'), policy)
  while (await journal.retention.expire(2));
}
