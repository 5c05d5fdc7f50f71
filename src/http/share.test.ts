import { expect, test } from 'vitest'
import { connectionShare } from './share.ts'

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
