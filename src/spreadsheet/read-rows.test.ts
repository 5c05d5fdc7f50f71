import { expect, test } from 'vitest'

import type { RowPart, RowReader } from './spreadsheet.ts'
import { type Persist, readRows } from './read-rows.ts'

type Next = Awaited<ReturnType<RowReader['next']>>

const part = (tab: string): RowPart => ({ kind: 'rows', place: tab, tab, rows: [] })
const oneMoment: Next = { kind: 'end', isOneMoment: true }
const manyMoments: Next = { kind: 'end', isOneMoment: false }
const layoutChanged: Next = { kind: 'changed' }

/**
 * Reads a spreadsheet whose readings go like this, the last one again and again. The comparison says
 * that the rows are steady from that reading on.
 */
async function read(readings: readonly Next[][], { steadyFrom = Infinity, stops = false } = {}) {
  const acts: string[] = []
  let begun = 0
  const comparison = {
    begin: () => void acts.push(`begin ${++begun}`),
    note: async ({ tab }: { readonly tab: string }) => void acts.push(tab),
    get isSteady() {
      return begun >= steadyFrom
    },
  }
  const { signal } = new AbortController()
  const rowReader = (): RowReader => {
    const left = [...(readings[begun - 1] ?? readings.at(-1) ?? [])]
    return {
      next: async (given) => {
        expect(given).toBe(signal)
        return left.shift() ?? expect.fail('The reader was used up.')
      },
      [Symbol.asyncDispose]: async () => void acts.push('closed'),
    }
  }
  const persist: Persist = async (call) => {
    const next = await call(signal)
    return stops || next.kind === 'refused' || next.kind === 'retryable' ? undefined : next
  }
  return { result: await readRows({ rowReader }, comparison, persist), acts }
}

test('rows of one moment are read once, and all of them are noted', async () => {
  expect(await read([[part('A'), part('B'), oneMoment]])).toEqual({
    result: 'read',
    acts: ['begin 1', 'A', 'B', 'closed'],
  })
})

test('rows of several moments are read until two readings agree', async () => {
  expect(await read([[part('A'), manyMoments]], { steadyFrom: 3 })).toEqual({
    result: 'read',
    acts: [1, 2, 3].flatMap((reading) => [`begin ${reading}`, 'A', 'closed']),
  })
})

test('a reading in which tabs or columns change is begun anew, also when the rows seem steady', async () => {
  const readings = [[part('A'), layoutChanged], [oneMoment]]
  expect(await read(readings, { steadyFrom: 1 })).toEqual({
    result: 'read',
    acts: ['begin 1', 'A', 'closed', 'begin 2', 'closed'],
  })
})

test('a reading that was broken off is not one of two that agree', async () => {
  const readings = [
    [part('A'), layoutChanged],
    [part('A'), manyMoments],
  ]
  expect(await read(readings, { steadyFrom: 1 })).toEqual({
    result: 'read',
    acts: [1, 2, 3].flatMap((reading) => [`begin ${reading}`, 'A', 'closed']),
  })
})

test.each([{ end: manyMoments }, { end: layoutChanged }])(
  'rows that change during six readings are restless ($end.kind)',
  async ({ end }) => {
    const { result, acts } = await read([[end]])
    expect(result).toBe('restless')
    expect(acts.filter((act) => act === 'closed')).toHaveLength(6)
  },
)

test('a stop ends the reading, and nothing is concluded', async () => {
  expect(await read([[part('A'), oneMoment]], { stops: true })).toEqual({
    result: undefined,
    acts: ['begin 1', 'closed'],
  })
})
