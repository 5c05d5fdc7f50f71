import { expect, test } from 'vitest'
import { tabProblem, tabsByKey } from './tab.ts'
import { tabKey } from './signup.ts'

test.each(['A', "Bob's 🌵 / [list]: *?\\", '日本', 'x'.repeat(100)])(
  '%j can name a tab',
  (name) => {
    expect(tabProblem(name)).toBeUndefined()
  },
)

test.each([
  ['', 'needs a name'],
  ['x'.repeat(101), 'at most 100'],
  ['a\u0000b', 'control character'],
  ['a\nb', 'control character'],
  ['a\ud800', 'surrogate'],
])('%j cannot name a tab', (name, reason) => {
  expect(tabProblem(name)).toContain(reason)
})

test('the first spelling of a tab is found by its key', () => {
  const tabs = tabsByKey(['Launch', 'LAUNCH', 'Café'])
  expect(tabs.get(tabKey('launch'))).toBe('Launch')
  expect(tabs.get(tabKey('CAFE\u0301'))).toBe('Café')
  expect(tabs.size).toBe(2)
})
