import { expect, test } from 'vitest'
import { withRun } from './results.ts'

const page = `# Results

What they mean.

## The latest of each scenario

| name | measured | run |
| ---- | -------- | --- |
| one | **1.00 ×** (0.9 to 1.1) | first |
| two | **2.00 ms** | first |

## Runs

- first, a machine: one 1.00 ×, two 2.00 ms
`

test('a run replaces the rows of its scenarios, adds new ones, and leaves a line with its medians', () => {
  const run = {
    name: 'second',
    about: ['another', 'quiet'],
    rows: ['| two | **2.50 ms** (2 to 3) |', '| three | not measured |'],
  }
  expect(withRun(page, run)).toBe(`# Results

What they mean.

## The latest of each scenario

| name | measured | run |
| ---- | -------- | --- |
| one | **1.00 ×** (0.9 to 1.1) | first |
| two | **2.50 ms** (2 to 3) | second |
| three | not measured | second |

## Runs

- first, a machine: one 1.00 ×, two 2.00 ms
- second, another, quiet: two 2.50 ms, three not measured
`)
})

test('a page without its headings is left alone', () => {
  expect(() => withRun('# Results\n', { name: '', about: [], rows: [] })).toThrow(
    'needs the headings',
  )
})
