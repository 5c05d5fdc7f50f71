import { mkdir, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'

import { makeFullSignup } from '../../harness/make-signup.ts'
import { createWorkbookWorld, type WorkbookWorld } from '../../harness/workbook-world.ts'
import { columns, ownColumns } from '../../src/signup/row.ts'
import type { Finding } from '../../src/platform/finding.ts'
import { inspectWorkbook } from '../../src/spreadsheet/workbook/inspection.ts'
import { makeBatch, testSignal } from './spreadsheet-contract.ts'

/** What an inspection finds in a local workbook. */

function inspect({ directory }: WorkbookWorld, ...tabs: string[]): Promise<readonly Finding[]> {
  const isOwn = async () => false
  return Array.fromAsync(inspectWorkbook(directory, { tabs: ['Sheet1', ...tabs], own: [], isOwn }))
}

const folderIsFine = {
  check: 'spreadsheet',
  state: 'ok',
  message: 'the local workbook, DATA_DIR/sheets, can be written',
}
const isMissing = {
  check: 'tabs',
  state: 'ok',
  message: 'the tab "Sheet1" is made with its first signup',
}

test('a workbook that nobody has signed up to is not there yet, and is not made', async () => {
  await using world = await createWorkbookWorld()
  const message = 'the local workbook, DATA_DIR/sheets, is made with the first signup'
  await mkdir(join(world.directory, '..', '..'), { recursive: true })
  expect(await inspect(world)).toEqual([{ ...folderIsFine, message }, isMissing])
  await expect(readdir(world.directory)).rejects.toThrow('ENOENT')
})

test('the columns of a site’s own are looked for, too: they are there, are added, or have no place', async () => {
  await using world = await createWorkbookWorld()
  await world.createTab('Sheet1', [[...columns, 'Notes', 'Firma']])
  await world.createTab('Old', [[...columns, 'Notes']])
  await world.createTab('Theirs', [['Email', 'Timestamp', 'Metadata']])
  const own = ownColumns([{ name: 'company', label: 'Firma', type: 'url', required: false }])
  const expected = { tabs: ['Sheet1', 'Old', 'Theirs'], own, isOwn: async () => false }
  const found = await Array.fromAsync(inspectWorkbook(world.directory, expected))
  const names = columns.join(', ')
  expect(found.slice(1).map(({ state, message }) => `${state}: ${message}`)).toEqual([
    `ok: the tab "Sheet1" has a column for each of ${names}, Firma`,
    `ok: the tab "Old" has a column for each of ${names}, and gets Firma with its next rows`,
    expect.stringMatching(
      /^warning: the tab "Theirs" .* no column for .*Firma: that goes into Met/,
    ),
  ])
})

test('each tab has its finding, in order: our header, another header, no header, no file', async () => {
  await using world = await createWorkbookWorld()
  await world.connect().write(makeBatch(1, { Sheet1: [makeFullSignup()] }), testSignal)
  await world.createTab('News', [['Email', 'Name']])
  await world.createTab('Guests', [['Table', '7']])
  const message = (text: string): unknown => expect.stringContaining(text)
  expect(await inspect(world, 'News', 'Guests', 'Later')).toEqual([
    folderIsFine,
    {
      ...isMissing,
      message: `the tab "Sheet1" has a column for each of ${columns.join(', ')}`,
    },
    {
      ...{ check: 'tabs', state: 'warning' },
      message: message('the tab "News" has a header row of its own, and no column for Timestamp'),
    },
    {
      ...{ check: 'tabs', state: 'warning' },
      message: message('the tab "Guests" does not begin with a header row'),
    },
    { ...isMissing, message: 'the tab "Later" is made with its first signup' },
  ])
})

test('a file that cannot take rows is a fault of its tab, and the others are looked at', async () => {
  await using world = await createWorkbookWorld()
  await world.createTab('Sheet1', [])
  await rm(world.path('Sheet1'))
  await symlink('/etc/hostname', world.path('Sheet1'))
  const found = await inspect(world, 'News')
  expect(found[1]).toEqual({
    check: 'tabs',
    state: 'fault',
    message: 'the tab "Sheet1": The file of a tab cannot be written: it is a symbolic link (ELOOP)',
    hint: expect.stringContaining('Replace the link'),
  })
  expect(found[2]).toMatchObject({ check: 'tabs', state: 'ok' })
})

test('a file in the place of the folder is a fault, and no tab is looked at', async () => {
  await using world = await createWorkbookWorld()
  await mkdir(join(world.directory, '..'), { recursive: true })
  await writeFile(world.directory, '', { mode: 0o700 })
  expect(await inspect(world, 'News')).toEqual([
    {
      check: 'spreadsheet',
      state: 'fault',
      message: 'The workbook cannot be written: a file stands where a folder should be (ENOTDIR)',
      hint: expect.stringContaining('Move that file away'),
    },
  ])
})

test('a record that somebody has changed is a fault, with what to do about it', async () => {
  await using world = await createWorkbookWorld()
  await world.connect().write(makeBatch(1, { News: [makeFullSignup()] }), testSignal)
  await writeFile(join(world.directory, '.rollcall', 'settled.json'), '{"abandoned":')
  expect(await inspect(world)).toEqual([
    {
      check: 'spreadsheet',
      state: 'fault',
      message: expect.stringMatching(/./),
      hint: expect.stringContaining('settled.json'),
    },
  ])
})
