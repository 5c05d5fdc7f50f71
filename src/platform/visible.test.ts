import { expect, test } from 'vitest'
import { visible, visibleJson, visibleLines } from './visible.ts'

const evil = 'a\u001b[2J\u009b1m\u202eb\u2066\u007f\u{e0041}\r\nFAULT'
const persian = 'می\u200cخواهم 👩\u200d💻'

test('control characters and those that turn the direction of a text become numbers, in one line', () => {
  expect(visible(evil)).toBe(
    'a\\u{1b}[2J\\u{9b}1m\\u{202e}b\\u{2066}\\u{7f}\\u{e0041}\\u{d}\\u{a}FAULT',
  )
  expect(visible(persian)).toBe(persian)
})

test('a text of several lines keeps its lines', () => {
  expect(visibleLines('one\u202e\ntwo\r\n')).toBe('one\\u{202e}\ntwo\\u{d}\n')
})

test('JSON keeps its value, and has no such character', () => {
  const json = visibleJson(JSON.stringify({ [evil]: [evil, persian] }, null, 2))
  expect(json.replaceAll('\n', '')).not.toMatch(/(?!\u200c|\u200d)[\p{Cc}\p{Cf}]/u)
  expect(JSON.parse(json)).toEqual({ [evil]: [evil, persian] })
})
