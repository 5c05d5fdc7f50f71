import { appendFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { interceptedFiles } from '../../../harness/failing-files.ts'
import { tempFolder } from '../../../harness/temp-folder.ts'
import { columns } from '../../signup/row.ts'
import { growHeader } from './header-row.ts'

const own = [{ name: 'size', heading: 'Size' }]
const before = `${columns.join(',')}\r\nada@example.com,,,,,,\r\n`

/** What becomes of the file when somebody does this at the moment at which it is replaced. */
async function grownWhile(meanwhile: (path: string) => Promise<void>): Promise<string> {
  await using folder = await tempFolder()
  const directory = folder.path
  await mkdir(join(directory, '.rollcall'))
  const path = join(directory, 'News.csv')
  await writeFile(path, before)
  const files = interceptedFiles(async (change) => {
    if (change.kind === 'replace') await meanwhile(path)
    await change.make()
  })
  await growHeader({ directory, files }, 'News.csv', own)
  return await readFile(path, 'utf8')
}

test('a header row gets the headings of the own columns, and all rows stay', async () => {
  expect(await grownWhile(async () => {})).toBe(before.replace('Sheet Tab', 'Sheet Tab,Size'))
})

test('a file that somebody saves at the same moment is left as they saved it', async () => {
  const note = 'a note\r\n'
  expect(await grownWhile((path) => appendFile(path, note))).toBe(before + note)
})
