import { describe, expect, test } from 'vitest'
import { parseSpreadsheetId } from './spreadsheet-id.ts'

const id = '1AbCdEfGhIjKlMnOpQrStUvWxYz0123456789-_AbCdE'
const docs = 'https://docs.google.com'

describe('the id is found in', () => {
  test.each([
    id,
    `${docs}/spreadsheets/d/${id}`,
    `${docs}/spreadsheets/d/${id}/`,
    `${docs}/spreadsheets/d/${id}/edit`,
    `${docs}/spreadsheets/d/${id}/edit#gid=0`,
    `${docs}/spreadsheets/d/${id}/edit?gid=12#gid=12`,
    `${docs}/spreadsheets/d/${id}?usp=sharing`,
    `${docs}/spreadsheets/d/${id}/copy`,
    `${docs}/spreadsheets/u/0/d/${id}/edit`,
    `${docs}/a/example.com/spreadsheets/d/${id}/edit`,
    `docs.google.com/spreadsheets/d/${id}/edit`,
    `http://docs.google.com/spreadsheets/d/${id}/edit`,
  ])('%s', (text) => {
    expect(parseSpreadsheetId(text)).toEqual({ value: id })
  })
})

describe('no id is found, and the problem says why, in', () => {
  test.each([
    ['Signups', /too short/],
    ['0', /too short/],
    ['x'.repeat(101), /too long/],
    ['my spreadsheet of all the signups', /characters/],
    [`${id}.`, /characters/],
    [`/spreadsheets/d/${id}`, /not one of a Google spreadsheet/],
    [`${docs}/spreadsheets/d/`, /not one of a Google spreadsheet/],
    [`${docs}/spreadsheets/u/0/`, /not one of a Google spreadsheet/],
    [`${docs}/spreadsheets/d/e/2PACX-1vQ${id}/pubhtml`, /published/],
    [`${docs}/document/d/${id}/edit`, /not one of a Google spreadsheet/],
    [`https://drive.google.com/open?id=${id}`, /not one of a Google spreadsheet/],
    [`https://docs.google.com.example.com/spreadsheets/d/${id}/edit`, /not one of a Google/],
    [`https://example.com/?u=${docs}/spreadsheets/d/${id}`, /not one of a Google/],
  ])('%s', (text, problem) => {
    expect(parseSpreadsheetId(text)).toMatchObject({ problem: expect.stringMatching(problem) })
  })
})
