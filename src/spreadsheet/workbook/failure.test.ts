import { lstat, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { failureOf, naming, whereIs } from './failure.ts'
import { RecordDamaged } from './record.ts'

const folder = '/data/sheets'
const tab = { tab: 'ada@example.com', fileName: 'ada.csv' }

const withCode = (code: string) => Object.assign(new Error(`${code}: told by the test`), { code })

/** The failure of an action on the file of a tab. */
async function failureOfTab(code: string) {
  const error = await naming(folder, tab, () => Promise.reject(withCode(code))).catch(
    (it: unknown) => it,
  )
  return failureOf(error, folder)
}

describe('an error of the file system', () => {
  test.each([
    [
      'EACCES',
      'permission denied',
      'folder',
      /the right to write here\. The folder is \/data\/sheets/,
    ],
    ['EPERM', 'operation not permitted', 'folder', /the right to write here/],
    ['EBUSY', 'it is locked', 'folder', /^Close the program/],
    ['ETXTBSY', 'it is locked', 'folder', /^Close the program/],
    ['ELOOP', 'it is a symbolic link', 'folder', /^Replace the link/],
    ['EISDIR', 'it is not a file', 'folder', /^Move it away/],
    ['EFBIG', 'it is too large', 'folder', /^Move the file away/],
    ['ENOSPC', 'the disk is full', 'diskFull', /^Free some space\. The folder is \/data\/sheets$/],
    ['EDQUOT', 'the disk quota is used up', 'diskFull', /^Free some space/],
    ['EROFS', 'the file system is read-only', 'folder', /DATA_DIR/],
    ['ENOTDIR', 'a file stands where a folder should be', 'folder', /DATA_DIR/],
    ['EIO', 'the disk reports an error', 'disk', /^Check the disk/],
  ])('%s says what is wrong and what to do', async (code, why, reason, hint) => {
    const ofWorkbook = {
      kind: 'refused',
      reason,
      message: `The workbook cannot be written: ${why} (${code})`,
      hint: expect.stringMatching(hint),
    }
    expect(failureOf(withCode(code), folder)).toMatchObject(ofWorkbook)
    expect(failureOf(withCode(code), folder)).not.toHaveProperty('tab')

    const isOfEachFile = ['ENOSPC', 'EDQUOT', 'EROFS', 'ENOTDIR', 'EIO'].includes(code)
    const ofTab = await failureOfTab(code)
    if (isOfEachFile) {
      expect(ofTab).toMatchObject(ofWorkbook)
      expect(ofTab).not.toHaveProperty('tab')
    } else {
      expect(ofTab).toMatchObject({
        ...{ kind: 'refused', reason: 'tabFile', tab: { name: 'ada@example.com' } },
        message: `The file of a tab cannot be written: ${why} (${code})`,
        hint: expect.stringMatching(/ls -i there shows which file it is$/),
      })
    }
  })

  test.each([
    ['/data/sheets/.rollcall/settled.json', 'The file is /data/sheets/.rollcall/settled.json'],
    ['/data/sheets/ada@example.com.csv', 'The folder is /data/sheets'],
  ])('about %s tells the place, unless a visitor may have given the name', (path, place) => {
    const error = Object.assign(withCode('EACCES'), { path })
    const hint = `Give the user that runs Rollcall the right to write here. ${place}`
    expect(failureOf(error, folder)).toMatchObject({ kind: 'refused', hint })
  })

  test('that is not known may go away by itself, and names no tab', async () => {
    const failure = {
      kind: 'retryable',
      message: 'The workbook cannot be written: the file system failed (ESTALE)',
    }
    expect(failureOf(withCode('ESTALE'), folder)).toMatchObject(failure)
    expect(await failureOfTab('ESTALE')).toMatchObject(failure)
    expect(await failureOfTab('ESTALE')).not.toHaveProperty('tab')
  })

  test('keeps its cause and leaves out the name of the tab', async () => {
    const failure = await failureOfTab('EBUSY')
    expect(failure.cause).toMatchObject({ cause: { code: 'EBUSY' } })
    const { message, hint } = failure as { message: string; hint: string }
    expect(message + hint + String(failure.cause)).not.toContain('ada')
  })
})

test('a damaged record is a problem of the whole workbook', () => {
  const damaged = new RecordDamaged('Reading x failed.')
  expect(failureOf(damaged, folder)).toMatchObject({
    ...{ kind: 'refused', reason: 'record', cause: damaged },
    hint: expect.stringMatching(/^Reading x failed\. Restore it from a backup\./),
  })
})

test('a mistake of ours is thrown, also when it is about the file of a tab', async () => {
  const mistake = new TypeError('a mistake')
  expect(() => failureOf(mistake, folder)).toThrow(mistake)
  await expect(naming(folder, tab, () => Promise.reject(mistake))).rejects.toBe(mistake)
  expect(await naming(folder, tab, async () => 7)).toBe(7)
})

test('a file is described by its inode, and otherwise not at all', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'rollcall-failure-'))
  await writeFile(join(directory, 'ada.csv'), '')
  const { ino } = await lstat(join(directory, 'ada.csv'))
  expect(await whereIs(directory, 'ada.csv')).toBe(`the file with inode ${ino}`)
  expect(await whereIs(directory, 'eve.csv')).toBe('a file that cannot be looked at')
  await rm(directory, { recursive: true })
})
