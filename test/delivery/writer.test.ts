import { expect, test } from 'vitest'

import { openSqliteJournal } from '../../harness/sqlite-journal.ts'
import { changed } from '../../harness/changed.ts'
import { freezeNext } from '../../harness/freeze-next.ts'
import { makeSignup, makeSignups } from '../../harness/make-signup.ts'
import {
  lostAnswer,
  neverArrived,
  refuses,
  ScriptedSpreadsheet,
} from '../../harness/scripted-spreadsheet.ts'
import type { FrozenBatch } from '../../src/signup/batch.ts'
import type { MaySend } from '../../src/spreadsheet/spreadsheet.ts'
import { createDeliveryWorld as world, writes } from './writer-world.ts'

const second = 1000
const minute = 60 * second
const hour = 60 * minute

test.each([
  { atOnce: 9, ms: 800 },
  { atOnce: 10, ms: 3000 },
])('while $atOnce come every 100 ms, the first batch waits $ms ms', async ({ atOnce, ms }) => {
  await using it = world()
  it.writer.start()
  await it.clock.run(minute)
  const accepted = it.clock.elapsed()
  await it.journal.intake.append(makeSignups(atOnce))
  await it.clock.run(50)
  while (it.spreadsheet.rows['Sheet1'] === undefined) {
    await it.journal.intake.append(makeSignups(atOnce))
    await it.clock.run(100)
  }
  expect(it.clock.elapsed() - accepted).toBe(ms + 50)
})

/** A spreadsheet that takes a hundred rows at once. */
const small = () => new ScriptedSpreadsheet({ rowsMax: 100 })

test('a signup that comes alone waits for 100 ms, and a full batch for nothing', async () => {
  await using it = world({ spreadsheet: small() })
  it.writer.start()
  await it.clock.run(minute)
  for (const [count, waitMs] of [
    [1, 100],
    [101, 0],
  ] as const) {
    const accepted = it.clock.elapsed()
    const calls = it.spreadsheet.calls.length
    await it.journal.intake.append(makeSignups(count))
    await it.clock.runUntil(() => it.spreadsheet.calls.length > calls)
    expect(it.clock.elapsed() - accepted).toBe(waitMs)
    await it.clock.run(minute)
  }
})

test.each([
  { came: 100, restMs: 5 },
  { came: 4_000, restMs: 200 },
  { came: 21_000, restMs: 1000 },
])(
  'when $came signups came since a full batch, the next one gives way for $restMs ms',
  async (it) => {
    await using delivery = world({ spreadsheet: small() })
    const { writer, clock, journal, spreadsheet } = delivery
    await journal.intake.append(makeSignups(301))
    const at: number[] = []
    spreadsheet.script = async () => {
      at.push(clock.elapsed())
      if (at.length === 1) await journal.intake.append(makeSignups(it.came))
      return undefined
    }
    writer.start()
    await clock.runUntil(() => at.length >= 2)
    expect((at[1] ?? 0) - (at[0] ?? 0)).toBe(it.restMs)
  },
)

test('a signup that another process has appended is written within 1.5 seconds', async () => {
  const journal = openSqliteJournal(':memory:')
  // No listener hears of an append, as when another process makes it.
  const delivery = changed(journal.delivery, { onAppend: () => () => undefined })
  await using it = world({ journal: changed(journal, { delivery }), lookEveryMs: second })
  it.writer.start()
  await it.clock.run(minute)
  const appended = it.clock.elapsed()
  await it.journal.intake.append([makeSignup()])
  await it.clock.runUntil(() => it.spreadsheet.rows['Sheet1'] !== undefined)
  expect(it.clock.elapsed() - appended).toBeLessThan(1.5 * second)
})

test('a signup that comes just after the writer has looked and found none is written within a second', async () => {
  const journal = openSqliteJournal(':memory:')
  let comesNow = true
  const delivery = changed(journal.delivery, {
    pending: async () => {
      const pending = await journal.delivery.pending()
      if (comesNow) await journal.intake.append([makeSignup()])
      comesNow = false
      return pending
    },
  })
  await using it = world({ journal: changed(journal, { delivery }) })
  it.writer.start()
  await it.clock.run(second)
  expect(it.spreadsheet.rows['Sheet1']).toHaveLength(1)
})

test(
  'an idle writer looks for signups of other processes once a second, and does nothing else',
  { tags: 'slow' },
  async () => {
    const journal = openSqliteJournal(':memory:')
    let looks = 0
    const delivery = changed(journal.delivery, {
      pending: async () => {
        looks += 1
        // A writer that looks without a pause would keep the test busy for ever. After an error it pauses.
        if (looks > 2 * (hour / second)) throw new Error('the writer looks too often')
        return journal.delivery.pending()
      },
    })
    await using it = world({ journal: changed(journal, { delivery }), lookEveryMs: second })
    it.writer.start()
    await it.journal.intake.append([makeSignup()])
    // Its marker is removed meanwhile.
    await it.clock.run(hour)
    const { length: calls } = it.spreadsheet.calls
    looks = 0
    await it.clock.run(hour)
    expect(looks).toBeGreaterThan(0.9 * (hour / second))
    expect(looks).toBeLessThanOrEqual(hour / second + 1)
    expect(it.spreadsheet.calls).toHaveLength(calls)
  },
)

test('a burst that takes two seconds to arrive still goes in one batch', async () => {
  await using it = world()
  it.writer.start()
  await it.clock.run(minute)
  for (let moment = 0; moment < 40; moment++) {
    await Promise.all(makeSignups(25).map((signup) => it.journal.intake.append([signup])))
    await it.clock.run(50)
  }
  await it.delivered(1000)
  expect(writes(it.spreadsheet)).toEqual(['write 1'])
})

test('signups that waited before the start are delivered, in the order of the journal', async () => {
  await using it = world({ spreadsheet: small() })
  const signups = makeSignups(250)
  await it.journal.intake.append(signups)
  it.writer.start()
  await it.delivered(signups.length)
  expect(it.spreadsheet.rows['Sheet1']).toEqual(signups.map(({ email }) => email))
  expect(await it.journal.reader.backlog()).toBe(0)
})

test(
  'steady signups soon go in fewer, larger batches, and after a quiet hour each goes alone again',
  { tags: 'slow' },
  async () => {
    await using it = world()
    it.writer.start()
    let accepted = 0
    for (; accepted < 3600; accepted++) {
      await it.journal.intake.append([makeSignup()])
      await it.clock.run(second)
    }
    // One signup a second for an hour: a batch each at first, then one every 12 seconds.
    const busy = writes(it.spreadsheet).length
    expect(busy).toBeGreaterThan(hour / (13 * second))
    expect(busy).toBeLessThan(hour / (12 * second) + 20)
    await it.clock.run(hour)
    for (let signup = 0; signup < 5; signup++) {
      await it.journal.intake.append([makeSignup()])
      await it.clock.run(5 * second)
    }
    expect(it.spreadsheet.rows['Sheet1']).toHaveLength(3605)
    expect(writes(it.spreadsheet).length).toBeGreaterThanOrEqual(busy + 5)
  },
)

test('after a lost answer the same batch is sent again, and its rows are there once', async () => {
  await using it = world()
  it.spreadsheet.script = (_, attempt) => (attempt === 1 ? lostAnswer : undefined)
  it.writer.start()
  await it.journal.intake.append(makeSignups(3))
  await it.delivered(3)
  expect(writes(it.spreadsheet)).toEqual(['write 1', 'write 1'])
  expect(it.spreadsheet.rows['Sheet1']).toHaveLength(3)
  expect(await it.journal.reader.backlog()).toBe(0)
})

test('after a restart the frozen batch is sent first, unchanged', async () => {
  const journal = openSqliteJournal(':memory:')
  const open = changed(journal, { [Symbol.asyncDispose]: async () => undefined })
  const signups = makeSignups(3)
  {
    await using it = world({ journal: open })
    it.spreadsheet.script = () => neverArrived
    it.writer.start()
    await journal.intake.append(signups.slice(0, 2))
    await it.clock.runUntil(() => writes(it.spreadsheet).length > 0)
  }
  const frozen = await journal.delivery.frozenBatch()
  await journal.intake.append(signups.slice(2))
  await using it = world({ journal })
  const seen: unknown[] = []
  it.spreadsheet.script = (batch) => {
    seen.push(batch)
    return undefined
  }
  it.writer.start()
  await it.delivered(3)
  expect(seen[0]).toEqual(frozen)
  expect(it.spreadsheet.rows['Sheet1']).toEqual(signups.map(({ email }) => email))
})

test('health reports a spreadsheet that cannot be opened before the first signup comes', async () => {
  await using it = world()
  const refused = {
    kind: 'refused',
    reason: 'credentials',
    message: 'Invalid Credentials',
    hint: 'Check.',
  } as const
  it.spreadsheet.opened = () => refused
  it.writer.start()
  await it.clock.run(second)
  expect(it.health.delivery).toMatchObject({ state: 'blocked', error: 'Invalid Credentials' })
  it.spreadsheet.opened = () => ({ kind: 'open' })
  await it.clock.run(5 * second)
  expect(it.health.delivery).toEqual({ state: 'ok' })
})

test('a tab that cannot be written is set aside while the others go on, and goes on by itself once that is solved', async () => {
  await using it = world()
  let isProtected = true
  const isIn = (batch: { tabs: readonly { tab: string }[] }) =>
    batch.tabs.some(({ tab }) => tab === 'Locked')
  it.spreadsheet.script = (batch) =>
    isProtected && isIn(batch)
      ? refuses('You are trying to edit a protected cell', 'Locked')
      : undefined
  it.writer.start()
  await it.journal.intake.append([
    makeSignup({ sheetTab: 'Locked' }),
    makeSignup({ sheetTab: 'Free' }),
  ])
  await it.clock.run(second * 3)
  expect(it.spreadsheet.rows).toEqual({ Free: ['ada@example.com'] })
  expect(it.health.delivery).toEqual({ state: 'ok' })
  expect([...it.health.tabs.values()]).toEqual([
    {
      name: 'Locked',
      place: 'the tab at place 1',
      reason: 'protectedTab',
      error: 'You are trying to edit a protected cell',
      hint: 'Mend it.',
    },
  ])
  await it.journal.intake.append([
    makeSignup({ sheetTab: 'Locked' }),
    makeSignup({ sheetTab: 'Free' }),
  ])
  await it.clock.run(hour)
  expect(it.spreadsheet.rows).toEqual({ Free: ['ada@example.com', 'ada@example.com'] })
  expect(await it.journal.reader.backlog()).toBe(2)
  isProtected = false
  await it.delivered(4)
  expect(it.spreadsheet.rows['Locked']).toHaveLength(2)
  expect(it.health.tabs.size).toBe(0)
})

test(
  'a hundred tabs that cannot be written leave most of the calls for the others',
  { tags: 'slow' },
  async () => {
    await using it = world()
    it.spreadsheet.script = ({ tabs }) => {
      const locked = tabs.find(({ tab }) => tab !== 'Free')
      return locked && refuses('protected', locked.tab)
    }
    it.writer.start()
    const locked = Array.from({ length: 100 }, (_, n) => makeSignup({ sheetTab: `Locked ${n}` }))
    await it.journal.intake.append(locked)
    await it.clock.run(hour)
    const callsBefore = it.spreadsheet.calls.length
    await it.clock.run(6 * hour)
    expect(it.health.tabs.size).toBe(100)
    expect(it.spreadsheet.calls.length - callsBefore).toBeLessThan(1000)
    await it.journal.intake.append([makeSignup({ sheetTab: 'Free' })])
    await it.delivered(1)
  },
)

test.each([
  { what: 'whose outcome is unknown', tries: ['write 1', 'write 1'] },
  { what: 'that is refused at its first try, of which there may be a copy,', tries: ['write 1'] },
])('a batch $what is given up only after Google can no longer apply it', async ({ tries }) => {
  await using it = world()
  it.spreadsheet.script = ({ number }, attempt) => {
    if (number > 1) return undefined
    return attempt < tries.length ? neverArrived : refuses('protected', 'Locked')
  }
  it.writer.start()
  await it.journal.intake.append([
    makeSignup({ sheetTab: 'Locked' }),
    makeSignup({ sheetTab: 'Free' }),
  ])
  await it.clock.runUntil(() => it.spreadsheet.rows['Free'] !== undefined)
  const calls = ['open', ...tries, 'abandon 1', 'write 2']
  expect(it.spreadsheet.calls.slice(0, calls.length)).toEqual(calls)
})

test('the signups of a batch that was given up before a crash are frozen again after it', async () => {
  await using it = world()
  await it.journal.intake.append(makeSignups(2))
  const batch = await freezeNext(it.journal.delivery)
  it.spreadsheet.script = ({ number }) =>
    number === batch?.number ? { applies: false, answers: { kind: 'abandoned' } } : undefined
  it.writer.start()
  await it.delivered(2)
  expect(it.spreadsheet.calls.slice(0, 3)).toEqual(['open', 'write 1', 'write 2'])
})

test.each(['sent', 'given up'])(
  'just before a batch is %s, the spreadsheet can ask whether another writer has ended it',
  async (what) => {
    await using it = world()
    const answers: unknown[] = []
    const ask = async (batch: FrozenBatch, maySend?: MaySend) => {
      answers.push(await maySend?.())
      await it.journal.delivery.release(batch)
      answers.push(await maySend?.())
    }
    it.spreadsheet.script = async (batch, _, maySend) => {
      if (batch.number > 1) return undefined
      if (what === 'given up') return refuses('protected', 'Sheet1')
      await ask(batch, maySend)
      return neverArrived
    }
    it.spreadsheet.abandons = async (batch, maySend) => {
      if (what === 'sent' || answers.length > 0) return undefined
      await ask(batch, maySend)
      return { kind: 'unknown', message: 'socket hang up' }
    }
    it.writer.start()
    await it.journal.intake.append(makeSignups(1))
    await it.delivered(1)
    expect(answers).toEqual([true, false])
  },
)

test('while many tabs cannot be written, a signup for another tab is written within a minute', async () => {
  await using it = world()
  it.spreadsheet.script = (batch) => {
    const locked = batch.tabs.find(({ tab }) => tab.startsWith('Locked'))
    return locked ? refuses('protected', locked.tab) : undefined
  }
  it.writer.start()
  const locked = Array.from({ length: 20 }, (_, index) => `Locked ${index}`)
  await it.journal.intake.append(locked.map((sheetTab) => makeSignup({ sheetTab })))
  await it.clock.run(30 * minute)
  await it.journal.intake.append([makeSignup({ sheetTab: 'Free' })])
  await it.clock.run(minute)
  expect(it.spreadsheet.rows['Free']).toHaveLength(1)
})

test('a batch whose marker id is taken by somebody else gets another id and a report, and its rows are there once', async () => {
  const reports: string[] = []
  const heard = { deliveryOddity: (message: string) => reports.push(message) }
  await using it = world({ heard })
  const markers: number[] = []
  it.spreadsheet.script = (batch, attempt) => {
    markers.push(batch.marker)
    if (attempt > 1) return undefined
    return { applies: false, answers: { kind: 'foreign', message: 'taken' } }
  }
  it.writer.start()
  await it.journal.intake.append(makeSignups(2))
  await it.delivered(2)
  expect(new Set(markers).size).toBe(2)
  expect(reports).toEqual(['taken'])
  expect(it.spreadsheet.rows['Sheet1']).toHaveLength(2)
})

test('a marker stays for 4 minutes after its batch, and one call removes many markers', async () => {
  await using it = world()
  it.writer.start()
  let most = 0
  for (let step = 0; step < 12 * 20; step++) {
    await it.journal.intake.append([makeSignup()])
    await it.clock.run(5 * second)
    most = Math.max(most, it.spreadsheet.markers.size)
    if (it.clock.elapsed() <= 4 * minute) expect(pruned(it.spreadsheet)).toEqual([])
  }
  await it.clock.run(minute)
  expect(most).toBeLessThan(70)
  expect(pruned(it.spreadsheet).length).toBeGreaterThan(5)
  expect(pruned(it.spreadsheet).every((count) => count >= 10)).toBe(true)
  expect(it.spreadsheet.rows['Sheet1']).toHaveLength(12 * 20)
})

type World = ReturnType<typeof world>

/** Makes a batch after the first one, whose marker stays for 15 minutes, too. Returns its marker. */
async function secondMarker(
  { journal, spreadsheet, clock, writer }: World,
  script: ScriptedSpreadsheet['script'],
  sheetTab = 'Sheet1',
): Promise<number | undefined> {
  writer.start()
  await journal.intake.append([makeSignup()])
  await clock.run(10 * second)
  spreadsheet.script = script
  await journal.intake.append([makeSignup({ sheetTab })])
  await clock.run(20 * second)
  spreadsheet.script = () => undefined
  return [...spreadsheet.markers].at(-1)
}

test.each<[string, (it: World) => Promise<number | undefined>, number]>([
  [
    'a batch whose answer was lost stays for 15 minutes',
    (it) => secondMarker(it, (_, attempt) => (attempt === 1 ? lostAnswer : undefined)),
    15,
  ],
  [
    'a batch that was given up stays for 15 minutes',
    (it) => secondMarker(it, () => refuses('protected', 'Locked'), 'Locked'),
    15,
  ],
  [
    'a batch that was frozen before the start stays for 65 minutes',
    async ({ journal, clock, writer }) => {
      await journal.intake.append(makeSignups(1))
      const found = await freezeNext(journal.delivery)
      writer.start()
      await clock.run(second)
      return found?.marker
    },
    65,
  ],
  [
    'an earlier version of the spreadsheet that came back stays for 65 minutes, and that of another journal for ever',
    async ({ journal, spreadsheet, writer }) => {
      await journal.intake.append(makeSignups(1))
      const batch = await freezeNext(journal.delivery)
      spreadsheet.strays.push({ marker: 7, fingerprint: batch?.fingerprint ?? '' })
      spreadsheet.strays.push({ marker: 8, fingerprint: 'of another journal' })
      spreadsheet.markers.add(7).add(8)
      writer.start()
      return 7
    },
    65,
  ],
])('the marker of %s', async (_, prepare, minutes) => {
  await using it = world({ markersMax: 12 })
  await it.journal.delivery.noteFact('fence of a test', 'holds')
  const marker = await prepare(it)
  const isStray = it.spreadsheet.markers.has(8)
  const stayedMs = await untilPruned(it, marker)
  expect(stayedMs).toBeGreaterThan((minutes - 0.5) * minute)
  // A stray one is found first.
  expect(stayedMs).toBeLessThan((minutes + (isStray ? 25 : 5)) * minute)
  expect(it.spreadsheet.markers.has(8)).toBe(isStray)
})

/** How long the marker stays from now on, while signups keep coming. */
async function untilPruned({ journal, spreadsheet, clock }: World, marker = 0): Promise<number> {
  const start = clock.elapsed()
  expect(spreadsheet.markers).toContain(marker)
  while (spreadsheet.markers.has(marker)) {
    await journal.intake.append([makeSignup()])
    await clock.run(20 * second)
    if (clock.elapsed() - start > 2 * hour) throw new Error('The marker was never pruned.')
  }
  return clock.elapsed() - start
}

const pruned = (spreadsheet: ScriptedSpreadsheet) =>
  spreadsheet.calls.flatMap((call) => (call.startsWith('prune') ? [Number(call.slice(6))] : []))

test('a wall clock that jumps ahead does not prune a marker early', async () => {
  await using it = world()
  it.writer.start()
  for (let batch = 0; batch < 12; batch++) {
    await it.journal.intake.append([makeSignup()])
    await it.clock.run(2 * second)
  }
  it.clock.jump(24 * hour)
  await it.journal.intake.append([makeSignup()])
  await it.clock.run(3 * minute)
  expect(it.spreadsheet.calls.filter((call) => call.startsWith('prune'))).toEqual([])
})

test('the writer tests once, a minute after the first batch, that the spreadsheet refuses a marker twice, and remembers it', async () => {
  await using it = world()
  it.writer.start()
  await it.journal.intake.append(makeSignups(1))
  await it.clock.run(30 * second)
  await it.journal.intake.append(makeSignups(1))
  await it.clock.run(hour)
  await it.journal.intake.append(makeSignups(1))
  await it.clock.run(hour)
  expect(it.spreadsheet.calls).toEqual(['open', 'write 1', 'write 2', 'abandon 1', 'write 3'])
  expect(await it.journal.delivery.fact('fence of a test')).toBe('holds')
})

test('when another writer may have removed the marker of the first batch, the writer makes that test with the next batch', async () => {
  await using it = world()
  it.spreadsheet.abandons = () => ({
    kind: 'refused',
    reason: 'permission',
    message: 'Not shared',
    hint: 'Share it.',
  })
  it.writer.start()
  await it.journal.intake.append(makeSignups(1))
  await it.clock.run(4 * minute)
  expect(it.health.delivery).toMatchObject({ error: 'Not shared' })
  await it.spreadsheet.prune((await it.journal.delivery.endedMarkers()).map(({ id }) => id))
  await it.clock.run(16 * minute)
  it.spreadsheet.abandons = () => undefined
  await it.journal.intake.append(makeSignups(1))
  await it.clock.run(hour)
  expect(it.health.delivery.state).toBe('ok')
  expect(it.spreadsheet.calls.slice(-2)).toEqual(['write 2', 'abandon 2'])
  expect(await it.journal.delivery.fact('fence of a test')).toBe('holds')
})

test('when somebody restores a version from before the first batch, whose marker is then gone, delivery goes on', async () => {
  await using it = world()
  it.writer.start()
  await it.journal.intake.append(makeSignups(1))
  await it.clock.run(30 * second)
  await it.spreadsheet.prune([...it.spreadsheet.markers])
  await it.clock.run(hour)
  expect(it.health.delivery.state).toBe('ok')
  expect(it.spreadsheet.calls.slice(-2)).toEqual(['abandon 1', 'write 1'])
  expect(it.spreadsheet.rows['Sheet1']).toHaveLength(1)
  expect(await it.journal.delivery.fact('fence of a test')).toBe('holds')
})

test('health has the warnings of the spreadsheet until they are solved', async () => {
  await using it = world()
  const warning = { kind: 'nearlyFull', message: 'The spreadsheet is 90 % full' } as const
  it.spreadsheet.warnings = [warning]
  it.writer.start()
  await it.clock.run(second)
  expect(it.health.warnings).toEqual([warning])
  it.spreadsheet.warnings = []
  await it.journal.intake.append(makeSignups(1))
  await it.clock.run(second)
  expect(it.health.warnings).toEqual([])
})

test('a stop lets the batch in flight settle, and freezes no other', async () => {
  await using it = world()
  const answer = Promise.withResolvers<undefined>()
  it.spreadsheet.script = (batch) =>
    batch.number === 1
      ? answer.promise.then(() => ({ applies: true, answers: { kind: 'applied' } }))
      : undefined
  it.writer.start()
  await it.journal.intake.append(makeSignups(1))
  await it.clock.runUntil(() => writes(it.spreadsheet).length === 1)
  const stopped = it.writer.stop(10 * second)
  await it.journal.intake.append(makeSignups(1))
  await it.clock.run(second)
  answer.resolve(undefined)
  await stopped
  expect(it.spreadsheet.rows['Sheet1']).toHaveLength(1)
  expect(await it.journal.delivery.frozenBatch()).toBeUndefined()
  expect(await it.journal.reader.backlog()).toBe(1)
})

test('a journal that fails for a while delays delivery and loses no signup', async () => {
  const journal = openSqliteJournal(':memory:')
  let failures = 3
  const delivery = changed(journal.delivery, {
    settle: async (batch, at) => {
      if (failures-- > 0) throw new Error('disk full')
      await journal.delivery.settle(batch, at)
    },
  })
  const flaky = changed(journal, { delivery })
  await using it = world({ journal: flaky })
  it.writer.start()
  await journal.intake.append(makeSignups(2))
  await it.delivered(2)
  await it.clock.run(hour)
  expect(it.spreadsheet.rows['Sheet1']).toHaveLength(2)
  expect(await journal.reader.backlog()).toBe(0)
})
