import { expect, test } from 'vitest'
import { makeSignup } from '../../../harness/make-signup.ts'
import { systemClock } from '../../platform/clock.ts'
import { ourHeader } from '../header.ts'
import { batchRequests, type TabPlan } from './requests.ts'

/** The field mask of the request that appends the rows. */
async function fieldsOf(prepare: TabPlan['prepare']): Promise<string | undefined> {
  const rows = { tab: 'News', signups: [makeSignup()] }
  const plan = { rows, sheetId: 7, place: { header: ourHeader }, prepare }
  const requests = await batchRequests(1, 'x', [plan], [], systemClock)
  const append = requests.at(-1)?.request.join('') ?? ''
  return /"fields":"([^"]*)"/.exec(append)?.[1]
}

test('a request sets no formats except for a new header row, so that people’s formats stay', async () => {
  const existing = { kind: 'existing sheet', missingColumns: 1 } as const
  expect(await fieldsOf({ ...existing, isEmpty: false })).toBe('userEnteredValue')
  const withBold = 'userEnteredValue,userEnteredFormat.textFormat.bold'
  expect(await fieldsOf({ ...existing, isEmpty: true })).toBe(withBold)
  expect(await fieldsOf({ kind: 'new sheet' })).toBe(withBold)
})
