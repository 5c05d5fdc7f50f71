import { readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makePrivateFile } from './private-file.ts'
import { tempFolder } from '../../../harness/temp-folder.ts'

test('a finished file has what was written, and only its owner may read it', async () => {
  await using folder = await tempFolder()
  const path = join(folder.path, 'list.csv')
  {
    await using file = await makePrivateFile(path)
    await file.write('ada,')
    await file.write(Uint8Array.of(98))
    await file.finish()
  }
  expect(await readFile(path, 'utf8')).toBe('ada,b')
  expect((await stat(path)).mode & 0o777).toBe(0o600)
})

test('a file that was not finished is removed', async () => {
  await using folder = await tempFolder()
  await (await makePrivateFile(join(folder.path, 'list.csv')))[Symbol.asyncDispose]()
  expect(await readdir(folder.path)).toEqual([])
})

test('a file is never written over another one or through a link', async () => {
  await using folder = await tempFolder()
  const [file, link, loose] = ['file', 'link', 'loose'].map((name) => join(folder.path, name))
  await writeFile(file ?? '', 'kept')
  await symlink('file', link ?? '')
  await symlink('nowhere', loose ?? '')
  for (const path of [file, link, loose]) {
    await expect(makePrivateFile(path ?? '')).rejects.toThrow('exists already')
  }
  expect(await readFile(file ?? '', 'utf8')).toBe('kept')
  expect((await readdir(folder.path)).sort()).toEqual(['file', 'link', 'loose'])
})

test('a folder that does not exist is named with what to do', async () => {
  await using folder = await tempFolder()
  const path = join(folder.path, 'no/list.csv')
  await expect(makePrivateFile(path)).rejects.toThrow(`${path} cannot be made: there is no such`)
})
