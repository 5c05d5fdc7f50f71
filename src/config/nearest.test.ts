import { expect, test } from 'vitest'
import { nearest } from './nearest.ts'

const names = ['SHEETS_PRIVATE_KEY', 'SHEETS_SHEET_ID', 'PORT', 'HOST']

test.each([
  ['SHEETS_PRIVATEKEY', 'SHEETS_PRIVATE_KEY'],
  ['SHEET_PRIVAT_KEYS', 'SHEETS_PRIVATE_KEY'],
  ['SHEETS_SHETE_ID', 'SHEETS_SHEET_ID'],
  ['PORT', 'PORT'],
  ['PART', 'PORT'],
  ['SHEETS_COLOUR', undefined],
  ['', undefined],
])('%s was probably meant to be %s', (given, meant) => {
  expect(nearest(given, names)).toBe(meant)
})
