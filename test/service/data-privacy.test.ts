import { chmod, mkdir, readdir, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'

import { allDelivered } from '../../harness/delivery-state.ts'
import { postSignup } from '../../harness/post-signup.ts'
import { startService } from '../../harness/start-service.ts'
import { tempFolder } from '../../harness/temp-folder.ts'

/** The mode of each file and folder in `folder`, by its name. */
async function modes(folder: string): Promise<Record<string, string>> {
  const names = ['', ...(await readdir(folder, { recursive: true }))]
  const found = names.map(async (name) => {
    const { mode } = await stat(join(folder, name))
    return [name, (mode & 0o777).toString(8)] as const
  })
  return Object.fromEntries(await Promise.all(found))
}

const isPrivate = (mode: string) => mode === '700' || mode === '600'

test('at the start, files in DATA_DIR that others could read become private to their owner, with one line in the log', async () => {
  await using folder = await tempFolder()
  const dataDir = join(folder.path, 'data')
  await mkdir(join(dataDir, 'sheets'), { recursive: true, mode: 0o755 })
  for (const name of ['lock', 'sheets/by hand.csv', 'journal.db.old', 'journal.secret.tmp']) {
    await writeFile(join(dataDir, name), '')
    if (name !== 'lock') await chmod(join(dataDir, name), 0o640)
  }
  await chmod(dataDir, 0o750)
  // Another program reads the file `lock`.
  using reader = new DatabaseSync(join(dataDir, 'lock'), { readOnly: true })
  reader.exec('BEGIN; SELECT * FROM sqlite_schema')
  await using service = await startService({ dataDir })
  await postSignup(service.url, { email: 'ada@example.com' })
  await allDelivered(service)
  const found = await modes(dataDir)
  expect(Object.keys(found)).toEqual(
    expect.arrayContaining([
      'journal.db-wal',
      'sheets/Sheet1.csv',
      'sheets/.rollcall/settled.json',
    ]),
  )
  expect(Object.entries(found).filter(([, mode]) => !isPrivate(mode))).toEqual([])
  expect(service.output().match(/other users could read the data/g)).toHaveLength(1)
})

test('a DATA_DIR that is a link becomes private to its owner, too', async () => {
  await using folder = await tempFolder()
  const there = join(folder.path, 'there')
  await mkdir(join(there, 'sheets'), { recursive: true, mode: 0o755 })
  const dataDir = join(folder.path, 'link')
  await symlink(there, dataDir)
  await using _ = await startService({ dataDir })
  const found = await modes(there)
  expect(Object.entries(found).filter(([, mode]) => !isPrivate(mode))).toEqual([])
})
