import { expect, test } from 'vitest'
import { whyNoReceiver } from './receiver-address.ts'

test.each([
  ...['127.0.0.1', '127.255.0.9', '10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.7'],
  ...['::1', 'fc00::1', 'fdff::7', '::ffff:10.0.0.1'],
])('HTTP may go to %s', (address) => {
  expect(whyNoReceiver('http:', address)).toBeUndefined()
})

test.each([
  ...['93.184.216.34', '172.15.255.255', '172.32.0.1', '192.169.0.1', '100.64.0.1', '0.0.0.0'],
  ...['2606:2800::1', '::', '::ffff:93.184.216.34', '64:ff9b::7f00:1', 'no address'],
  ...['64:ff9b:1::7f00:1', '2002:5db8:d822::1', '2001:0:5db8:d822::1'],
])('HTTP may not go to %s, and HTTPS may', (address) => {
  expect(whyNoReceiver('http:', address)).toContain('by HTTPS only')
  expect(whyNoReceiver('https:', address)).toBeUndefined()
})

test.each([
  ...['169.254.169.254', '169.254.0.0', 'fe80::1', 'febf::1', '::ffff:169.254.169.254'],
  ...[
    '64:ff9b::a9fe:a9fe',
    '2002:a9fe:a9fe::1',
    '::ffff:0:169.254.169.254',
    'fd00:ec2::254',
    'fd00:ec2::23',
  ],
  ...[
    'fd20:ce::254',
    'fd00:42::42',
    'fd00:a9fe:a9fe::1',
    'fd00:c1::a9fe:a9fe',
    '::169.254.169.254',
    '64:ff9b:1::169.254.169.254',
  ],
  ...['64:ff9b:1:a9fe:a9:fe00::', '64:ff9b:1:7a9:fe:a9fe::', '64:ff9b:1:7:a9:fea9:fe00::'],
  ...['2001:0:a9fe:a9fe::1', '2001:0:1:2:3:4:5601:5601', '2606:2800::5efe:a9fe:a9fe'],
  ...['fe80::1%eth0', 'fd00:ec2::254%eth0', '64:ff9b:1:7:0:9:169.254.169.254'],
])('nothing goes to %s', (address) => {
  for (const protocol of ['http:', 'https:']) {
    expect(whyNoReceiver(protocol, address)).toContain('link-local')
  }
})
