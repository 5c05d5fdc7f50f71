import { expect, test } from 'vitest'

import { createGoogleWorld } from '../../harness/google-world.ts'
import { makeSignup } from '../../harness/make-signup.ts'
import { columns, toRow } from '../../src/signup/row.ts'
import { shownCell } from '../../src/spreadsheet/csv.ts'
import { makeBatch, testSignal } from './spreadsheet-contract.ts'

/** 700 of these rows have 20 MB, and an answer may have 16. */
const signups = Array.from({ length: 700 }, (_, index) =>
  makeSignup({
    email: `visitor-${index}@example.com`,
    receivedAt: Date.UTC(2026, 10, 20, 12) + index,
    metadata: JSON.stringify({ note: '漢'.repeat(9_900) }),
    sheetTab: 'News',
  }),
)
const rows = signups.map((signup) => toRow(signup, 'News').map(shownCell))
const late = makeSignup({ email: 'late@example.com' })

/** A tab with these rows, read by a process that has just started. */
async function createWorld(tab: readonly (readonly string[])[]) {
  const world = await createGoogleWorld()
  await world.createTab('News', tab)
  const spreadsheet = world.connect()
  expect(await spreadsheet.open(testSignal)).toMatchObject({ kind: 'open' })
  const emails = async () =>
    ((await world.rows('News')) ?? []).map((row) => /[\w-]+@[\w.]+/.exec(row.join(','))?.[0])
  return { world, spreadsheet, emails, [Symbol.asyncDispose]: () => world[Symbol.asyncDispose]() }
}

test.each([
  ['begins with our header row', [[...columns], ...rows]],
  ['begins with an empty row', [[], ...rows]],
])(
  'a batch is written below more rows than fit into an answer, when the tab %s',
  { tags: 'slow' },
  async (_, tab) => {
    await using it = await createWorld(tab)
    const written = await it.spreadsheet.write(makeBatch(1, { News: [late] }), testSignal)
    expect(written).toMatchObject({ kind: 'applied' })
    expect((await it.emails()).slice(1)).toEqual([...signups, late].map(({ email }) => email))
  },
)

/** The order of columns that makes every cell of a row lie between address and timestamp. */
const turned = ([email = '', timestamp = '', ...others]: readonly string[]) => [
  email,
  ...others,
  timestamp,
]

test('rows are read back that are larger than an answer', { tags: 'slow' }, async () => {
  await using it = await createWorld([[...columns], ...rows].map(turned))
  await using reader = it.spreadsheet.rowReader()
  const found: number[] = []
  for (;;) {
    const part = await reader.next(testSignal)
    if (part.kind === 'end') break
    if (part.kind !== 'rows') throw new Error(JSON.stringify(part))
    if (part.tab === 'News') found.push(...part.rows.map(({ at }) => at ?? 0))
  }
  expect(found).toEqual(signups.map(({ receivedAt }) => receivedAt))
})

test('a row is removed from among rows that are larger than an answer', async () => {
  await using it = await createWorld([[...columns], ...rows].map(turned))
  const [{ email, receivedAt }] = signups.slice(650) as [(typeof signups)[0]]
  const removed = await it.spreadsheet.remove([{ email, receivedAt }], testSignal)
  expect(removed).toMatchObject({ kind: 'removed', standing: [1] })
  const left = (await it.emails()).filter((found) => found !== undefined)
  expect(left).toEqual(signups.map((signup) => signup.email).filter((other) => other !== email))
})
