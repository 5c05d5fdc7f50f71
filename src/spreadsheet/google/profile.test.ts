import { expect, test } from 'vitest'
import { makeFullSignup } from '../../../harness/make-signup.ts'
import { systemClock } from '../../platform/clock.ts'
import type { Signup } from '../../signup/signup.ts'
import { ourHeaderWith } from '../header.ts'
import { googleProfile } from './profile.ts'
import { batchRequests } from './requests.ts'

/** The bytes of the request that appends these rows. */
async function bytesOf(...signups: Signup[]): Promise<number> {
  const rows = { tab: signups[0]?.sheetTab ?? '', signups }
  const sheet = { sheetId: 7, isNew: false, missingColumns: 0, isEmpty: false }
  const own = Object.keys(signups[0]?.fields ?? {}).map((name) => ({ name, heading: name }))
  const plan = { rows, ...sheet, place: { header: ourHeaderWith(own) } }
  const [, append] = await batchRequests('{}', [plan], own, systemClock)
  return Buffer.byteLength(append?.request.join('') ?? '')
}

test.each<[string, Partial<Signup>]>([
  ['all cells', {}],
  ['fields of its own', { fields: { company: 'Analytical Engines', seats: 1000, news: false } }],
  ['no name', { name: '' }],
  ['no tags and no metadata', { tags: [], metadata: '' }],
  ['a long tab in another script', { sheetTab: '表'.repeat(100) }],
  ['a tab in another script', { sheetTab: 'größe 表', tags: ['日本'], name: 'Åsa' }],
])('a row with %s takes as many bytes in a request as the profile says', async (_, fields) => {
  // Each quote of the metadata is escaped, which the profile leaves out.
  const signup = makeFullSignup({ metadata: '{}', ...fields })
  const { email, source, name, tags, metadata } = signup
  const own = Object.values(signup.fields).join('')
  const textBytes = Buffer.byteLength(
    [email, source, name, tags.join(', '), metadata, own].join(''),
  )
  const comma = 1
  const bytes = (await bytesOf(signup, signup)) - (await bytesOf(signup)) - comma
  const planned = googleProfile.rowBytes(signup, textBytes)
  expect(planned).toBeGreaterThanOrEqual(bytes)
  expect(planned).toBeLessThan(bytes * 1.05)
})

test('a call takes 5,000 rows or 2 MiB at most, and a spreadsheet 300 markers', () => {
  const markers = { max: 300, idMax: 2_147_483_647 }
  expect(googleProfile).toMatchObject({ rowsMax: 5000, bytesMax: 2_097_152, markers })
})
