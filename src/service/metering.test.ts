import { expect, test } from 'vitest'

import type { GoogleConfig } from '../config/sites/site.ts'
import { fewestLeft } from './metering.ts'

const quota = { perMinute: 60, perDay: 10_000 }

function siteOf(email: string, calls: Readonly<Record<string, number>>) {
  const spreadsheet = { kind: 'google', credentials: { email }, quota } as GoogleConfig
  const callsSince = async (account: string) => calls[account] ?? 0
  return { spreadsheet, journal: { reader: { callsSince } } }
}

test('of several accounts the one with the fewest calls left is told, wherever it stands', async () => {
  const calls = { idle: 0, busy: 50 }
  const left = { minute: 10, day: 9_950 }
  const sites = [siteOf('idle', calls), siteOf('busy', calls)] as const
  expect(await fewestLeft(sites, Date.now)).toEqual(left)
  expect(await fewestLeft([sites[1], sites[0]], Date.now)).toEqual(left)
})
