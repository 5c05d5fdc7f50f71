import { expect, test } from 'vitest'
import { UsageError } from '../session.ts'
import { Columns } from './columns.ts'

const own = ['e_mail', 'utm_source', 'utmSource'].map((name) => ({
  ...{ name, heading: name, type: 'text' as const },
}))

test('--map names a field of the site exactly, and another one in any spelling', () => {
  const columns = new Columns(['e_mail=A', 'utm_source=B', 'utmSource=C', 'E-mail=D'], own)
  expect(['A', 'B', 'C', 'D'].map((key) => columns.fieldOf(key))).toEqual([
    ...['e_mail', 'utm_source', 'utmSource', 'email'],
  ])
})

test.each(['name', 'nobody=A'])('--map %s is refused with what to write', (said) => {
  expect(() => new Columns([said], own)).toThrow(UsageError)
  expect(() => new Columns([said], own)).toThrow('Give it as FIELD=COLUMN')
})

test('a first row with an address at a domain in another script is no header row', () => {
  const columns = ['Ada', 'ada@bücher.example']
  expect(() => new Columns([]).take(columns)).toThrow('The file has no header row')
})
