import { expect, test } from 'vitest'

import { Client } from './client.ts'

test.each([
  ['203.0.113.7', '203.0.113.7'],
  ['::ffff:203.0.113.7', '203.0.113.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2:3:4:5:6'],
  ['::1', undefined],
  ['10.1.2.3', undefined],
  [undefined, undefined],
])('without a proxy, the address %s gives %s', (remoteAddress, expected) => {
  const forwardedFor = '198.51.100.1'
  const client = new Client({ remoteAddress, forwardedFor, trustedProxies: 0 })
  expect(client.visitorAddress).toBe(expected)
})

test.each([
  ['6.6.6.6, 198.51.100.1', 1, '198.51.100.1'],
  ['198.51.100.1:4711, 10.0.0.2', 2, '198.51.100.1'],
  ['[2001:db8::1]:4711', 1, '2001:db8::1'],
  ['2001:db8::1%eth0', 1, '2001:db8::1'],
  ['[::ffff:198.51.100.1]:4711', 1, '198.51.100.1'],
  ['10.0.0.2', 1, undefined],
  ['198.51.100.1', 2, undefined],
  ['unknown', 1, undefined],
  [null, 1, undefined],
])('behind proxies, "%s" with %i trusted gives %s', (forwardedFor, trustedProxies, expected) => {
  const remoteAddress = '203.0.113.7'
  const client = new Client({ remoteAddress, forwardedFor, trustedProxies })
  expect(client.visitorAddress).toBe(expected)
})

test.each([
  ['203.0.113.7', 0, '203.0.113.7'],
  ['2001:db8:1:2:3:4:5:6', 0, '2001:db8:1:2::/64'],
  ['10.1.2.3', 0, undefined],
  ['10.1.2.3', 1, '198.51.100.1'],
  ['10.1.2.3', 2, undefined],
])('from %s with %i proxies, the public address is %s', (remoteAddress, trustedProxies, is) => {
  const client = new Client({ remoteAddress, forwardedFor: '198.51.100.1', trustedProxies })
  expect(client.publicAddress).toBe(is)
})
