import { expect, test } from 'vitest'
import { personalLines } from './personal-data.ts'

test.each([
  'an address\n{"msg":"kept signup of ada@lists.example.com"}',
  'a name\n{"msg":"thanks","name":"Ada Lovelace"}',
  'a challenge token\n{"token":"XXXX.DUMMY.TOKEN.XXXX"}',
])('a log with %s is noticed by every test that starts the service', (text) => {
  expect(personalLines(text)).toHaveLength(1)
})

test('an id that happens to have the first letters of a token in it is no token', () => {
  const line = '{"location":"the spreadsheet 1I6tjp2eP1_7WqtSEMIs4_0yr-f50CyXBiZpx5S4nZwv"}'
  expect(personalLines(line)).toEqual([])
  expect(personalLines('{"token":"P1_7WqtSEMIs4_0yr-f50CyXBiZpx5S4nZwv"}')).toHaveLength(1)
})

test('a secret is noticed wherever it is printed, in part, too', () => {
  const env = {
    API_KEYS: 'short,a-long-random-text',
    SHEETS_PRIVATE_KEY: '--BEGIN--\\nMIIEvQIBADANBg',
    CHALLENGE_SECRET_KEY_LAUNCH: '0x4-key-of-a-site',
  }
  const lines = ['key: a-long-random-text', 'MIIEvQIBADANBg', '"0x4-key-of-a-site"', 'fine']
  expect(personalLines(lines.join('\n'), env)).toEqual(lines.slice(0, 3))
})

test('the line to try at start may show an address, and a log may show who writes to the sheet', () => {
  const log = '{"msg":"share it with rollcall@project.iam.gserviceaccount.com"}'
  expect(personalLines(`curl -d email=ada@example.com\n${log}`)).toEqual([])
})
