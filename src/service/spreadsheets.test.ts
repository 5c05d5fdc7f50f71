import { expect, test } from 'vitest'
import type { SiteConfig } from '../config/sites/site.ts'
import type { Journal } from '../journal/contracts/journal.ts'
import { ManualClock } from '../../harness/manual-clock.ts'
import { accountsOf } from './spreadsheets.ts'

const quota = { perMinute: 60, perDay: 60 }
const journal = { callLedger: () => ({}) } as unknown as Journal

function siteOf(name: string, email: string) {
  const spreadsheet = { kind: 'google', credentials: { email }, quota }
  return { name, spreadsheet: spreadsheet as SiteConfig['spreadsheet'], journal }
}

/** How many batches that are not full a site may send at once. */
function batchesOf(name: string, ...sites: Parameters<typeof accountsOf>[0]): number {
  const allowance = accountsOf(sites, new ManualClock()).get(name)?.join().allowance
  let count = 0
  for (; allowance?.wait() === 0; count++) allowance.take()
  return count
}

test('sites share what their account allows, and nothing with sites of other accounts', () => {
  expect(batchesOf('a', siteOf('a', 'one'))).toBe(6)
  expect(batchesOf('a', siteOf('a', 'one'), siteOf('b', 'other'))).toBe(6)
  expect(batchesOf('a', siteOf('a', 'one'), siteOf('b', 'one'), siteOf('c', 'other'))).toBe(3)
})
