import { expect, test } from 'vitest'

import { makeSignup } from '../../../harness/make-signup.ts'
import { toRow } from '../../signup/row.ts'
import type { Signup } from '../../signup/signup.ts'
import { csvRecord } from '../csv.ts'
import { workbookProfile } from './profile.ts'

test.each<[string, Partial<Signup>]>([
  ['few cells', {}],
  ['all cells', { name: 'Ada Lovelace', tags: ['early', 'press'], metadata: '{"a":"b"}' }],
  ['another script', { name: '艾達', sheetTab: 'Neu'.repeat(9) }],
])('a row with %s takes about as many bytes as the profile says', (_, fields) => {
  const signup = makeSignup(fields)
  const row = toRow(signup, signup.sheetTab)
  const texts = [signup.email, signup.source, signup.name, signup.tags.join(', '), signup.metadata]
  const textBytes = Buffer.byteLength(texts.join(''))
  const real = Buffer.byteLength(`${csvRecord(row)}\r\n`)
  const said = workbookProfile.rowBytes(signup, textBytes)
  expect(said).toBeGreaterThanOrEqual(real)
  expect(said).toBeLessThanOrEqual(real + 10)
})

test('a workbook takes 5,000 rows or 4 MB at a time after a tenth of a second, without quota or markers', () => {
  expect(workbookProfile).toMatchObject({
    ...{ rowsMax: 5000, bytesMax: 4_194_304, hasQuota: false },
    linger: { quietMs: 20, maxMs: 100, burstMaxMs: 100 },
    markers: { max: Infinity, idMax: 2_147_483_647 },
  })
})
