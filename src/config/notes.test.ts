import { expect, test } from 'vitest'
import { startNotes } from './notes.ts'

const site = { signupsPerMinute: 60, origins: '*' } as const
const config = { trustedProxies: 0, allowedHosts: undefined, sites: [site] } as const

test('a note says that local addresses are not rate-limited, unless there is a proxy or no limit', () => {
  expect(startNotes(config)).toEqual([expect.stringContaining('TRUST_PROXY')])
  expect(startNotes({ ...config, trustedProxies: 1 })).toEqual([])
  expect(startNotes({ ...config, sites: [{ ...site, signupsPerMinute: 0 }] })).toEqual([])
})

test('a note recommends ALLOWED_HOSTS when only ALLOWED_ORIGINS is set', () => {
  const sites = [{ ...site, origins: ['https://example.com'] }]
  const named = { ...config, trustedProxies: 1, sites }
  expect(startNotes(named)).toEqual([expect.stringContaining('ALLOWED_HOSTS')])
  expect(startNotes({ ...named, allowedHosts: ['signup.example.com'] })).toEqual([])
})
