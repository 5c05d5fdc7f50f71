import { expect, test } from 'vitest'
import { remember } from './remember.ts'

test('a text is computed once, and again after the cache was full', () => {
  const computed: string[] = []
  const shout = remember(2, (text) => {
    computed.push(text)
    return text === '' ? undefined : text.toUpperCase()
  })
  const texts = ['a', '', 'a', '', 'c', 'c', 'a']
  expect(texts.map(shout)).toEqual(['A', undefined, 'A', undefined, 'C', 'C', 'A'])
  expect(computed).toEqual(['a', '', 'c', 'a'])
})
