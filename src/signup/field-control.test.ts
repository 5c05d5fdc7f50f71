import { expect, test } from 'vitest'
import type { ChoiceField, TextField } from './field.ts'
import { areOptionsShown, collectedLength, collectedText, fitInRow } from './field-control.ts'

const text = (name: string, required = false): TextField => {
  return { name, type: 'text', required, maxLength: 5 }
}

test.each([
  [true, 4],
  [false, 5],
])('that all options are shown is %s when there are %d', (isShown, count) => {
  const options = Array.from({ length: count }, (_, at) => `option ${at}`)
  const choice: ChoiceField = { name: 'plan', type: 'choice', required: false, options }
  expect(areOptionsShown(choice)).toBe(isShown)
})

test.each([
  [['Free', 'Pro', 'Team'], true],
  [['x'.repeat(27), ''], true],
  [['x'.repeat(28), ''], false],
  [['x'.repeat(21), '', ''], true],
  [['x'.repeat(22), '', ''], false],
])('the choices %j share a row: %s', (options, isRow) => {
  expect(fitInRow({ name: 'plan', type: 'choice', required: false, options })).toBe(isRow)
})

test('only texts for the origin of a visit fill themselves, and a required one is shown', () => {
  const collected = ['utm_source', 'referrer', 'referrer_name', 'my_utm_source'].map((name) =>
    collectedLength(text(name)),
  )
  expect(collected).toEqual([5, 5, undefined, undefined])
  expect(collectedLength(text('utm_source', true))).toBeUndefined()
  expect(collectedLength({ name: 'utm_source', type: 'url', required: false })).toBeUndefined()
})

test('a field that fills itself takes only as much as fits, and others take nothing by themselves', () => {
  expect(collectedText(text('referrer'), 'https://a.example')).toBe('https')
  expect(collectedText(text('company'), 'ACME')).toBeUndefined()
})
