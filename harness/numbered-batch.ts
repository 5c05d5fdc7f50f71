import type { FrozenBatch } from '../src/signup/batch.ts'
import type { Signup, SignupId } from '../src/signup/signup.ts'

/** Batch `number`, the same in every process: up to 60 rows in up to three of four tabs. */
export function numberedBatch(number: number): FrozenBatch {
  const tabs = ['News', 'Events', 'Größe', `Tab ${Math.floor(number / 10)}`]
  return {
    number,
    marker: number,
    fingerprint: `crash-test:${number}`,
    tabs: tabs
      .filter((_, index) => index !== number % 4)
      .map((tab, index) => ({
        tab,
        signups: Array.from({ length: 1 + ((number * 7 + index * 5) % 20) }, (_, row) =>
          numberedSignup(`${number}.${index}.${row}`, number, tab),
        ),
      })),
  }
}

function numberedSignup(name: string, number: number, sheetTab: string): Signup {
  return {
    id: `0190c6f2-0000-7000-8000-${String(number).padStart(12, '0')}` as SignupId,
    receivedAt: Date.UTC(2026, 10, 20) + number,
    email: `visitor-${name}@example.org`,
    sheetTab,
    source: 'api',
    name: `"${name}", 'quoted'`,
    tags: ['a', 'b'],
    metadata: '{"campaign":"spring, 2026"}',
    fields: {},
  }
}
