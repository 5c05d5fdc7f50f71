import { expect, test } from 'vitest'
import { Client, connectionShare } from './client.ts'

test.each(['203.0.113.1', '10.0.0.1'])(
  'a trusted proxy at %s may have all connections, because all clients are behind it',
  (address) => {
    expect(connectionShare(address, 1)).toBeUndefined()
  },
)

test.each([
  ['203.0.113.1', 1 / 8],
  ['10.0.0.1', 3 / 4],
])('without a trusted proxy, %s may have %d of the connections', (client, part) => {
  expect(connectionShare(client, 0)).toEqual({ client, part })
})

test('the other end of a connection that is closed already has the share of one unknown client', () => {
  expect(connectionShare('', 0)).toEqual({ client: 'unknown', part: 1 / 8 })
  const request = { remoteAddress: undefined, forwardedFor: null, trustedProxies: 0 }
  expect(new Client(request).share).toEqual({ client: 'unknown', part: 1 / 8 })
})

test.each([
  ['203.0.113.1', 0, { client: '203.0.113.1', part: 1 / 8 }],
  ['10.0.0.1', 0, { client: '10.0.0.1', part: 3 / 4 }],
  ['10.0.0.1', 1, { client: '198.51.100.1', part: 1 / 8 }],
])('a request from %s, with %i trusted proxies, has the share %j', (address, proxies, share) => {
  const request = { remoteAddress: address, forwardedFor: '198.51.100.1', trustedProxies: proxies }
  expect(new Client(request).share).toEqual(share)
})

test.each([
  ['::ffff:203.0.113.7', '6.6.6.6', 0, '203.0.113.7'],
  ['2001:db8:1:2:3:4:5:6', '6.6.6.6', 0, '2001:db8:1:2:3:4:5:6'],
  ['10.1.2.3', '6.6.6.6', 0, undefined],
  [undefined, '6.6.6.6', 0, undefined],
  ['10.0.0.1', '198.51.100.1:4711, 10.0.0.2', 2, '198.51.100.1'],
  ['10.0.0.1', '[2001:db8::1]:4711', 1, '2001:db8::1'],
  ['10.0.0.1', '10.0.0.2', 1, undefined],
  ['10.0.0.1', null, 1, undefined],
])('from %s with "%s" and %i proxies, the visitor is %s', (remoteAddress, forwardedFor, n, is) => {
  const client = new Client({ remoteAddress, forwardedFor, trustedProxies: n })
  expect(client.visitorAddress).toBe(is)
})

test.each([
  ['2001:db8:1:2:3:4:5:6', 0, '2001:db8:1:2::/64'],
  ['10.1.2.3', 0, undefined],
  ['10.1.2.3', 1, '198.51.100.1'],
  ['10.1.2.3', 2, undefined],
])('from %s with %i proxies, the public address is %s', (remoteAddress, trustedProxies, is) => {
  const client = new Client({ remoteAddress, forwardedFor: '198.51.100.1', trustedProxies })
  expect(client.publicAddress).toBe(is)
})
