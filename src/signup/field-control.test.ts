import { expect, test } from 'vitest'
import type { ChoiceField, TextField } from './field.ts'
import { areOptionsShown, collectedText, fitInRow, isCollected } from './field-control.ts'

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
    isCollected(text(name)),
  )
  expect(collected).toEqual([true, true, false, false])
  expect(isCollected(text('utm_source', true))).toBe(false)
  expect(isCollected({ name: 'utm_source', type: 'url', required: false })).toBe(false)
})

test('a field that fills itself takes only as much as fits, and others take nothing by themselves', () => {
  expect(collectedText(text('referrer'), 'https://a.example')).toBe('https')
  expect(collectedText(text('company'), 'ACME')).toBeUndefined()
})
