import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { clientAddress, countedAddress, isPrivate } from './client.ts'

describe('an address is counted as', () => {
  test.each([
    ['192.0.2.7', '192.0.2.7'],
    [' 192.0.2.7 ', '192.0.2.7'],
    ['192.0.2.7:54321', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:DB8:1:2::', '2001:db8:1:2::/64'],
    ['[2001:db8:1:2::9]', '2001:db8:1:2::/64'],
    ['[2001:db8:1:2::9]:443', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['::1', '::1'],
  ])('%s: %s', (text, counted) => {
    expect(countedAddress(text)).toBe(counted)
  })

  test.each([
    '',
    'unknown',
    'example.com',
    '256.1.1.1',
    '1.2.3',
    'at 192.0.2.7:80',
    '192.0.2.7:80 x',
    '[2001:db8::1]x',
    '[2001:db8::1]:http',
    '01.2.3.4',
    '0x7f.1',
    '1::2::3',
    '1:2:3:4:5:6:7:8:9',
    '[::1',
    '192.0.2.7, 192.0.2.8',
  ])('nothing: %s', (text) => {
    expect(countedAddress(text)).toBeUndefined()
  })

  test('nothing when it has more than 80 characters, which no address needs', () => {
    expect(countedAddress('192.0.2.7'.padStart(80))).toBe('192.0.2.7')
    expect(countedAddress('192.0.2.7'.padStart(81))).toBeUndefined()
  })

  test('one address for all of an IPv6 network of 64 bits, and another one for its neighbour', () => {
    const group = fc.integer({ min: 0, max: 0xffff })
    const network = fc.tuple(fc.integer({ min: 0x2000, max: 0x3fff }), group, group, group)
    const host = fc.tuple(group, group, group, group)
    const hex = (groups: readonly number[]) => groups.map((one) => one.toString(16)).join(':')
    fc.assert(
      fc.property(network, host, host, ([a, b, c, d], one, other) => {
        const counted = countedAddress(hex([a, b, c, d, ...one]))
        expect(counted).toBe(countedAddress(hex([a, b, c, d, ...other])))
        expect(counted).not.toBe(countedAddress(hex([a, b, c, d ^ 1, ...one])))
      }),
    )
  })

  test('itself for every IPv4 address, also when written as IPv6; other texts give no other addresses', () => {
    fc.assert(
      fc.property(fc.ipV4(), (address) => {
        expect(countedAddress(address)).toBe(address)
        expect(countedAddress(`::ffff:${address}`)).toBe(address)
      }),
    )
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.ipV6(), fc.ipV4Extended()), (text) => {
        const counted = countedAddress(text)
        if (counted !== undefined) expect(counted).toMatch(/^[\d.]+$|^[\da-f:]+(\/64)?$/)
      }),
    )
  })
})

test.each([
  ['10.1.2.3', true],
  ['127.0.0.1', true],
  ['172.16.0.1', true],
  ['172.32.0.1', false],
  ['192.168.1.1', true],
  ['169.254.169.254', true],
  ['100.64.0.1', true],
  ['100.128.0.1', false],
  ['8.8.8.8', false],
  ['::1', true],
  ['fc00::1', true],
  ['fe80::1', true],
  ['fc0::1', false],
  ['2001:db8::1', false],
])('%s is private: %s', (address, expected) => {
  expect(isPrivate(countedAddress(address) ?? '')).toBe(expected)
})

describe('the client behind trusted proxies', () => {
  const addressOf = (
    trustedProxies: number,
    forwardedFor: string | null,
    remoteAddress = '10.0.0.1',
  ) => clientAddress({ remoteAddress, forwardedFor, trustedProxies })

  test('is the n-th entry of X-Forwarded-For from the right, whatever the client wrote before it', () => {
    expect(addressOf(1, '6.6.6.6, 192.0.2.7')).toEqual({ address: '192.0.2.7' })
    expect(addressOf(2, '6.6.6.6,192.0.2.7, 10.0.0.2')).toEqual({ address: '192.0.2.7' })
    const spoofed = fc.array(fc.string())
    fc.assert(
      fc.property(
        spoofed,
        fc.ipV4(),
        fc.array(fc.ipV4(), { maxLength: 4 }),
        (lies, client, proxies) => {
          const header = [...lies, client, ...proxies].join(', ')
          expect(addressOf(proxies.length + 1, header)).toEqual({ address: client })
        },
      ),
    )
  })

  test.each([null, '', 'unknown', '192.0.2.7,', ','])(
    'is the other end of the connection when the entry is not an address (%s), with a warning',
    (header) => {
      const { address, warning } = addressOf(1, header, '::ffff:198.51.100.1')
      expect(address).toBe('198.51.100.1')
      const entries = header?.split(',').length ?? 0
      expect(warning).toContain(`It had ${entries}. Either`)
    },
  )

  test('is not taken from a header with fewer entries than proxies', () => {
    expect(addressOf(2, '6.6.6.6').address).toBe('10.0.0.1')
  })

  test('is counted even when its network is private', () => {
    expect(addressOf(1, '192.168.1.20')).toEqual({ address: '192.168.1.20' })
  })
})

describe('without trusted proxies', () => {
  test('the header is ignored', () => {
    const input = { remoteAddress: '192.0.2.7', forwardedFor: '6.6.6.6', trustedProxies: 0 }
    expect(clientAddress(input)).toEqual({ address: '192.0.2.7' })
  })

  test('a private address is not counted, because it may be a proxy', () => {
    const input = { remoteAddress: '::ffff:172.17.0.1', forwardedFor: '6.6.6.6', trustedProxies: 0 }
    expect(clientAddress(input)).toEqual({ address: undefined })
  })

  test('a connection that is already closed still counts', () => {
    const input = { remoteAddress: undefined, forwardedFor: null, trustedProxies: 0 }
    expect(clientAddress(input)).toEqual({ address: 'unknown' })
  })
})
