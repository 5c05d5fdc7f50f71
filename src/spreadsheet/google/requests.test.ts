import { expect, test } from 'vitest'
import { makeSignup } from '../../../harness/make-signup.ts'
import { systemClock } from '../../platform/clock.ts'
import { ourHeader } from '../header.ts'
import { batchRequests, type TabPlan } from './requests.ts'

/** The field mask of the request that appends the rows. */
async function fieldsOf(sheet: Pick<TabPlan, 'isNew' | 'isEmpty'>): Promise<string | undefined> {
  const rows = { tab: 'News', signups: [makeSignup()] }
  const plan = { rows, sheetId: 7, place: { header: ourHeader }, missingColumns: 1, ...sheet }
  const requests = await batchRequests('{}', [plan], [], systemClock)
  const append = requests.at(-1)?.request.join('') ?? ''
  return /"fields":"([^"]*)"/.exec(append)?.[1]
}

test('a request sets no formats except for a new header row, so that people’s formats stay', async () => {
  expect(await fieldsOf({ isNew: false, isEmpty: false })).toBe('userEnteredValue')
  const withBold = 'userEnteredValue,userEnteredFormat.textFormat.bold'
  expect(await fieldsOf({ isNew: false, isEmpty: true })).toBe(withBold)
  expect(await fieldsOf({ isNew: true, isEmpty: true })).toBe(withBold)
})
