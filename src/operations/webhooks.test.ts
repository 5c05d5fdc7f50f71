import { expect, test } from 'vitest'
import { endpointState, endpointWords } from './webhooks.ts'

test('a webhook that takes none of what waits is not said to work', () => {
  const figures = { cursor: 4, disabledAt: undefined, failingSince: undefined, reason: '' }
  const found = { ...figures, enabled: 0, takenAt: 5, backlog: 4, oldest: 6, waiting: 4, failed: 0 }
  expect(endpointWords(endpointState(found))).toBe(
    'fails for 4 of 4 waiting, and tries them again, the oldest of 1970-01-01T00:00:00.006Z',
  )
})
