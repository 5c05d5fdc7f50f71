import { createHash } from 'node:crypto'
import { resolve } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { tabKey } from '../../signup/signup.ts'
import { fileName } from './file-name.ts'

/** Names of every kind, among them those that mean something to a file system. */
const tabName = fc.oneof(
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 100 }),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 100 }),
  fc.string({
    unit: fc.constantFrom(...Array.from('aAzZ09 ._-~/\\:*?"<>|\'üÜßKİıſﬁ日\u0301')),
    minLength: 1,
    maxLength: 100,
  }),
  fc.constantFrom(
    '.',
    '..',
    'con',
    'NUL',
    'com1.x',
    'LPT9 ',
    'aux .y',
    'a.',
    ' a',
    '~',
    'News.csv',
  ),
)

describe('the file name of a tab', () => {
  test.each(['News', 'Sheet1', 'Press 2026', 'a_b-c', 'v1.2', 'x'.repeat(64), '-', '007'])(
    '%s stays readable as it is',
    (tab) => {
      expect(fileName(tab)).toBe(`${tab}.csv`)
    },
  )

  test.each([
    ['Größe / Maß', 'größe-maß'],
    ['日本語', '日本語'],
    ['../../x', 'x'],
    ['🌵', 'tab'],
    ['con', 'con'],
    ['aux .y', 'aux-y'],
    ['x'.repeat(65), 'x'.repeat(60)],
    ['ü'.repeat(100), 'ü'.repeat(30)],
  ])('%s becomes %s with a hash', (tab, slug) => {
    const hash = createHash('sha256').update(tabKey(tab), 'utf16le').digest('hex').slice(0, 40)
    expect(fileName(tab)).toBe(`${slug}~${hash}.csv`)
  })

  test('stays in the folder, and is valid on Linux, macOS and Windows', () => {
    fc.assert(
      fc.property(tabName, (tab) => {
        const name = fileName(tab)
        expect(resolve('/data/sheets', name)).toBe(`/data/sheets/${name}`)
        expect(name).not.toMatch(/[\p{Cc}\p{Cs}<>:"/\\|?*]/u)
        expect(name).not.toMatch(/^[. ]|[. ]$|[. ]\.csv$/)
        expect(name).not.toMatch(/^(?:con|prn|aux|nul|com\d|lpt\d|conin\$|conout\$) *\./i)
        expect(Buffer.byteLength(name)).toBeLessThanOrEqual(110)
      }),
      { numRuns: 2_000 },
    )
  })

  test('is the same for two names exactly if they mean one tab, apart from case and normalisation', () => {
    const twoNames = fc.oneof(
      fc.tuple(tabName, tabName),
      tabName.map((tab) => [tab, tab.toUpperCase()] as const),
      tabName.map((tab) => [tab, tab.normalize('NFD')] as const),
      tabName.map((tab) => [tab, `${tab} `] as const),
      tabName.map((tab) => [tab, fileName(tab).replace(/\.csv$/, '')] as const),
    )
    const onDisk = (tab: string) => fileName(tab).normalize('NFKD').toLowerCase()
    fc.assert(
      fc.property(twoNames, ([one, other]) => {
        expect(onDisk(one) === onDisk(other)).toBe(tabKey(one) === tabKey(other))
      }),
      { numRuns: 5_000 },
    )
  })

  test('is the same for the Kelvin sign and the letter k', () => {
    expect(fileName('\u212a').toLowerCase()).toBe(fileName('K').toLowerCase())
  })
})
