import { describe, expect, test } from 'vitest'

import { columns, type Row } from '../signup/row.ts'
import { arrange, headerProblem, readHeader } from './header.ts'

const row: Row = [
  'ada@example.com',
  '2026-11-20T10:00:00.000Z',
  'api',
  'Ada',
  'a, b',
  '{"n":12345678901234567890}',
  'News',
]

describe('a header row', () => {
  test.each([
    [[...columns]],
    [[...columns, 'Notes', 'Email']],
    [['EMAIL', ' timestamp', 'Source', 'name', 'Tags', 'Metadata', 'SheetTab']],
  ])('with our seven names in order is ours, with any columns after them: %j', (cells) => {
    expect(arrange(row, readHeader(cells))).toEqual(row)
    expect(headerProblem(readHeader(cells))).toBeUndefined()
  })

  test('with our columns in another order has a place for each, and no problem', () => {
    const header = readHeader(['Done', ...columns.toReversed()])
    expect(arrange(row, header)).toEqual(['', ...row.toReversed()])
    expect(headerProblem(header)).toBeUndefined()
  })

  test('with some of our columns has a problem that names the others', () => {
    const header = readHeader(['Name', 'E mail', 'Phone', 'Email'])
    expect(arrange(row, header)).toEqual(['Ada', 'ada@example.com'])
    expect(headerProblem(header)).toMatch(
      /no column for Timestamp, .*, Sheet Tab: that is left out/,
    )
  })

  test('with a repeated name is filled at its first place', () => {
    expect(arrange(row, readHeader(['Email', 'email', 'Name', 'NAME']))).toEqual([
      ...['ada@example.com', '', 'Ada'],
    ])
  })

  test.each([[[]], [['', '', '']], [['Guests', 'Table', 'E-mail']]])(
    'without Email counts as data, so cells go in our order, with a problem: %j',
    (cells) => {
      expect(arrange(row, readHeader(cells))).toEqual(row)
      expect(headerProblem(readHeader(cells))).toContain('as Email, Timestamp, Source, Name, Tags')
    },
  )
})

test("a column of the site's own is not one of ours, even when their headings agree", () => {
  const own = [{ name: 'contact', heading: 'E mail' }]
  expect(readHeader(['Email', 'email'], own).at).toEqual([0, -1, -1, -1, -1, -1, -1, 1])
  expect(readHeader([...columns], own).at.at(-1)).toBe(-1)
})

describe('headings of the site’s own', () => {
  const own = [{ name: 'seats', heading: 'Seats' }]
  const added = (cells: readonly string[]) => readHeader(cells, own, true).added?.column

  test('are added behind the last heading of a header that has all of ours, in any order', () => {
    expect(added([...columns])).toBe(7)
    expect(added([...columns.toReversed(), '', 'Notes', ''])).toBe(9)
    expect(added([...columns, 'SEATS'])).toBeUndefined()
  })

  test('are not added to a header that lacks one of ours, and not beyond what is read', () => {
    expect(added(columns.slice(0, 6))).toBeUndefined()
    const filled = (length: number) => [...columns, ...Array<string>(length - 7).fill('x')]
    expect(added(filled(701))).toBe(701)
    expect(added(filled(702))).toBeUndefined()
  })
})

describe('a cell without a column', () => {
  const header = readHeader(['Metadata', 'Email', 'Timestamp', 'Tags', 'Sheet Tab'])

  test('goes into Metadata beside the other members, whose text does not change', () => {
    const [cell] = arrange(row, header)
    expect(cell).toBe('{"n":12345678901234567890,"Source":"api","Name":"Ada"}')
    expect(headerProblem(header)).toContain('no column for Source, Name: that goes into Metadata')
  })

  test('is left out when it is empty, and makes new metadata when there is none', () => {
    const bare: Row = ['ada@example.com', '', 'api', '', '', '', '']
    expect(arrange(bare, header)[0]).toBe('{"Source":"api"}')
    const none: Row = ['ada@example.com', '', '', '', '', '', '']
    expect(arrange(none, header)[0]).toBe('')
  })

  test('replaces no key of the visitor’s metadata', () => {
    const clash: Row = ['ada@example.com', '', 'api', '', '', '{"Source":"poster"}', '']
    expect(arrange(clash, header)[0]).toBe('{"Source":"poster","Source (signup)":"api"}')
    const twice = '{"Source":"a","Source (signup)":"b"}'
    expect(arrange(clash.with(5, twice) as unknown as Row, header)[0]).toBe(
      '{"Source":"a","Source (signup)":"b","Source (signup) (signup)":"api"}',
    )
  })
})
