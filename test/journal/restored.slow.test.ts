// @module-tag slow
import { copyFile, open, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { freezeNext } from '../../harness/freeze-next.ts'
import { makeSignup, makeSignups } from '../../harness/make-signup.ts'
import { tempFolder } from '../../harness/temp-folder.ts'
import { replacedCodesFact, restoredFact } from '../../src/journal/contracts/delivery-log.ts'
import { JournalUnavailable } from '../../src/journal/contracts/errors.ts'
import { addressHash } from '../../src/journal/hashes.ts'
import type { Journal, JournalPolicy } from '../../src/journal/contracts/journal.ts'
import type { WebhookMessage } from '../../src/journal/contracts/webhook-log.ts'
import { webhookIdOf } from '../../src/outbox/webhook/endpoint.ts'
import type { Signup } from '../../src/signup/signup.ts'
import { copyBackup } from '../../src/journal/sqlite/copy.ts'
import { makeRestored } from '../../src/journal/sqlite/restore.ts'
import { openSqliteJournal } from '../../harness/sqlite-journal.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { ask, claim } from './contracts/outbox-contract.ts'

const minute = 60 * 1000
const noon = Date.UTC(2026, 10, 20, 12)
const quota = { perMinute: 5, perDay: 50 }

type Work = (journal: Journal) => Promise<unknown>

const noWork: Work = async () => undefined

/** A journal of which a backup is made after the first work, and which goes on with the second. */
async function backedUp(first: Work, second = noWork, policy: Partial<JournalPolicy> = {}) {
  await using stack = new AsyncDisposableStack()
  const { path } = stack.use(await tempFolder())
  const [file, copy] = [join(path, 'journal.db'), join(path, 'restored.db')]
  const work = async (name: string, todo: Work) => {
    await using journal = openSqliteJournal(name, policy)
    return await todo(journal)
  }
  await work(file, first)
  copyBackup(file, copy)
  await work(file, second)
  const all = stack.move()
  return {
    path,
    file,
    copy,
    /** Restores the backup; unless it is `blind`, in the place of the journal. */
    async restore({ blind = false, now = Date.now(), allowed = quota, names = ['robot'] } = {}) {
      const clock = { ...systemClock, now: () => now }
      const accounts = names.map((name) => ({ name, quota: allowed }))
      const options = { policies: new Map([['default', {}]]), clock, accounts }
      return await makeRestored(copy, options, blind ? undefined : file)
    },
    inRestored: (todo: Work) => work(copy, todo),
    callsInRestored: () => {
      using reader = new DatabaseSync(copy, { readOnly: true })
      const rows = reader.prepare('SELECT number, at FROM provider_call ORDER BY number').all()
      return rows.map(({ number, at }) => [Number(number), Number(at)] as const)
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}

async function deliver({ delivery }: Journal, rowsMax = 100): Promise<void> {
  const batch = await freezeNext(delivery, { rowsMax })
  if (batch) await delivery.settle(batch.number, noon)
}

test('thousands of people who were forgotten after the backup are all erased again', async () => {
  const people = makeSignups(2001)
  await using world = await backedUp((journal) => journal.intake.append(people))
  const secret = (await readFile(join(world.path, 'journal.secret'), 'utf8')).trim()
  {
    await using journal = openSqliteJournal(world.file)
    const hashes = people.map(({ email }) => addressHash(secret, email))
    await journal.erasure.adopt(hashes.map((hash) => ({ hash, upto: 2001 })))
  }
  expect(await world.restore()).toMatchObject({ signups: 2001, forgotten: 2001 })
  await world.inRestored(async ({ reader }) => expect(await reader.page(0, 9)).toEqual([]))
})

test('the last signup of a backup is compared and, if that person was forgotten, erased with its row', async () => {
  const email = 'last@example.com'
  await using world = await backedUp(
    async (journal) => {
      await journal.intake.append([...makeSignups(2), makeSignup({ email })])
      await deliver(journal, 2)
    },
    (journal) => journal.erasure.forget(email),
  )
  expect(await world.restore()).toMatchObject({ signups: 3, forgotten: 1 })
  await world.inRestored(async ({ erasure }) => {
    expect(await erasure.removals(0)).toMatchObject([{ position: 3, email }])
  })
})

test('webhooks go on where they stood at the backup, and a position that is given again is told with an id of its own', async () => {
  const [ada, bob, lost, late] = ['ada', 'bob', 'lost', 'late'].map((name) =>
    makeSignup({ email: `${name}@example.com` }),
  ) as [Signup, Signup, Signup, Signup]
  const move = (journal: Journal, from: number, to: number) =>
    journal.webhooks.settle('crm', { from, to, outcomes: [] })
  const idsOf = (messages: readonly WebhookMessage[]) =>
    messages.map(({ position, type, signup }) => [position, webhookIdOf('', signup.id, type)])
  const told = (position: number, { id }: Signup) => [position, webhookIdOf('', id, accepted)]
  const accepted = 'signup.accepted'
  await using world = await backedUp(
    async (journal) => {
      await journal.webhooks.follow(['crm'], noon)
      await journal.intake.append([ada, bob])
      await move(journal, 0, 1)
    },
    async (journal) => {
      await journal.intake.append([lost])
      await move(journal, 1, 3)
      await journal.erasure.forget(bob.email)
    },
  )
  await world.restore()
  await world.inRestored(async (journal) => {
    await journal.webhooks.follow(['crm'], noon)
    await journal.intake.append([late])
    expect(await journal.webhooks.endpoint('crm')).toMatchObject({ cursor: 1 })
    const { messages } = await journal.webhooks.next('crm', 0, noon)
    const erased = [2, webhookIdOf('', bob.id, 'signup.erased')]
    expect(idsOf(messages)).toEqual([erased, told(1, ada), told(3, late)])
    expect(told(3, late)).not.toEqual(told(3, lost))
  })
})

test('a signup that alone waits in a backup is to be compared with the spreadsheet', async () => {
  await using world = await backedUp(async (journal) => {
    await journal.intake.append(makeSignups(3))
    await deliver(journal, 2)
  })
  expect(await world.restore()).toMatchObject({ signups: 3, waiting: 1 })
  await world.inRestored(async ({ delivery }) => {
    expect(await delivery.fact(restoredFact)).toBe('3')
  })
})

test('nothing is to be compared when all signups of a backup were written', async () => {
  await using world = await backedUp(async (journal) => {
    await journal.intake.append(makeSignups(3))
    await deliver(journal)
  })
  expect(await world.restore()).toMatchObject({ signups: 3, waiting: 0 })
  await world.inRestored(async ({ delivery }) => {
    expect(await delivery.fact(restoredFact)).toBe('')
  })
})

test('a restored journal counts each call of the journal that it replaces, from the first on', async () => {
  const now = Date.now()
  const time = { now: () => now, elapsed: () => 0 }
  await using world = await backedUp(
    (journal) => journal.callLedger('robot', time).reserve(quota),
    async (journal) => {
      const ledger = journal.callLedger('robot', time)
      for (let call = 1; call < quota.perMinute; call++) await ledger.reserve(quota)
    },
  )
  await world.restore({ now })
  expect(world.callsInRestored()).toEqual([1, 2, 3, 4, 5].map((number) => [number, now]))
  await world.inRestored(async (journal) => {
    expect(await journal.callLedger('robot', time).reserve(quota)).toBeGreaterThan(0)
  })
})

test.each([
  ['signup', (journal: Journal) => journal.intake.append(makeSignups(2, { receivedAt: noon }))],
  [
    'call',
    async (journal: Journal) => {
      await journal.intake.append(makeSignups(1, { receivedAt: noon - 20 * minute }))
      for (const at of [noon - 10 * minute, noon]) {
        const time = { now: () => at, elapsed: () => at }
        await journal.callLedger('robot', time).reserve(quota)
      }
    },
  ],
  [
    'settled batch',
    async (journal: Journal) => {
      await journal.intake.append(makeSignups(1, { receivedAt: noon - 20 * minute }))
      await deliver(journal)
    },
  ],
])(
  'without the journal before, the quota counts as used up since the last %s of the backup',
  async (_, work) => {
    await using world = await backedUp(work)
    expect(await world.restore({ blind: true, now: noon + 3 * minute })).toMatchObject({
      isQuotaUnknown: true,
    })
    const times = world.callsInRestored().map(([, at]) => at)
    // Four windows of 61 s reach from now back to the backup; its own calls come before.
    const since = times.filter((at) => at > noon)
    expect(since.length).toBe(3 * quota.perMinute)
    expect(times.filter((at) => at <= noon - 2 * minute).length).toBeLessThan(quota.perMinute)
  },
)

test('a quota of hundreds of thousands of calls a day counts as used up, too', async () => {
  const large = { perMinute: 300, perDay: 400_000 }
  await using world = await backedUp(noWork)
  await world.restore({ blind: true, now: noon, allowed: large })
  expect(world.callsInRestored().length).toBeGreaterThan(300_000)
})

/** So many windows of a minute that are full, of which the last one ends at this time. */
const full = (at: number, windows: number) =>
  Array.from({ length: windows }, (_, nth) => at - 61_000 * (windows - 1 - nth)).flatMap((time) =>
    Array<number>(quota.perMinute).fill(time),
  )

test.each([
  { what: 'the backup was made just now', now: noon, times: [noon, ...full(noon, 1)] },
  {
    what: 'two minutes have passed',
    now: noon + 122_000,
    times: [noon, ...full(noon + 122_000, 3)],
  },
  {
    what: 'a day has 12 calls',
    now: noon + 24 * 60 * minute,
    perDay: 12,
    times: [noon, ...full(noon + 24 * 60 * minute, 3).slice(3)],
  },
  {
    what: 'the clock was set back',
    now: noon - 10 * minute,
    times: full(noon - 10 * minute, 10),
  },
])(
  'without the journal before, each minute up to now is full when $what',
  async ({ now, times, perDay = quota.perDay }) => {
    await using world = await backedUp(async (journal) => {
      const time = { now: () => noon, elapsed: () => noon }
      await journal.callLedger('robot', time).reserve(quota)
    })
    await world.restore({ blind: true, now, allowed: { ...quota, perDay } })
    expect(world.callsInRestored()).toEqual(times.map((at, index) => [index + 1, at]))
  },
)

test('a restore tells whether it knows the journal before, and the calls of its accounts', async () => {
  await using world = await backedUp(noWork)
  expect(await world.restore()).toMatchObject({ isBlind: false, isQuotaUnknown: false })
  expect(await world.restore({ blind: true })).toMatchObject({
    isBlind: true,
    isQuotaUnknown: true,
  })
  expect(await world.restore({ blind: true, names: [] })).toMatchObject({
    isBlind: true,
    isQuotaUnknown: false,
  })
})

test('a restore is refused while another process uses the journal', async () => {
  await using world = await backedUp((journal) => journal.intake.append(makeSignups(1)))
  await using journal = openSqliteJournal(world.file)
  await journal.intake.append(makeSignups(1))
  using reader = new DatabaseSync(world.file, { readOnly: true })
  reader.exec('BEGIN; SELECT * FROM signup')
  const refused: unknown = await world.restore().catch((error: unknown) => error)
  expect(refused).toBeInstanceOf(JournalUnavailable)
  expect(refused).toMatchObject({
    message: 'Another command uses the journal just now. Wait until it has ended.',
  })
  reader.exec('COMMIT')
  expect(await world.restore()).toMatchObject({ isBlind: false })
})

/** The number of the first page with rows of this table. Rows that come later are on other pages, in the log too. */
function firstPageOf(file: string, table: string): number {
  using database = new DatabaseSync(file, { readOnly: true })
  const first = `SELECT pageno FROM dbstat WHERE name = ? AND pagetype = 'leaf' ORDER BY path LIMIT 1`
  return Number(database.prepare(first).get(table)?.['pageno'])
}

test('a damaged journal is replaced unread, and neither it nor its log is changed', async () => {
  await using world = await backedUp(async (journal) => {
    await journal.intake.append(makeSignups(500, { metadata: `{"a":"${'x'.repeat(200)}"}` }))
  })
  const damaged = join(world.path, 'damaged.db')
  const page = firstPageOf(world.file, 'signup')
  {
    await using journal = openSqliteJournal(world.file)
    await journal.intake.append(makeSignups(1))
    for (const end of ['', '-wal']) await copyFile(world.file + end, damaged + end)
  }
  {
    await using handle = await open(damaged, 'r+')
    await handle.write(Buffer.alloc(4096), 0, 4096, (page - 1) * 4096)
  }
  const bytes = () => Promise.all(['', '-wal'].map((end) => readFile(damaged + end)))
  const before = await bytes()
  const options = { policies: new Map(), clock: systemClock, accounts: [] }
  expect(await makeRestored(world.copy, options, damaged)).toMatchObject({ isBlind: true })
  expect(await bytes()).toEqual(before)
})

test('a journal that was restored twice knows the codes of both journals before it', async () => {
  await using world = await backedUp(noWork)
  const codeIn = (file: string) => {
    using database = new DatabaseSync(file, { readOnly: true })
    return String(database.prepare('SELECT code FROM site').get()?.['code'])
  }
  const codesIn = async (file: string) => {
    await using journal = openSqliteJournal(file)
    return await journal.delivery.fact(replacedCodesFact)
  }
  const first = codeIn(world.file)
  await world.restore()
  const second = codeIn(world.copy)
  expect(second).not.toBe(first)
  expect(await codesIn(world.copy)).toBe(first)
  const again = join(world.path, 'again.db')
  copyBackup(world.copy, again)
  await makeRestored(again, { policies: new Map(), clock: systemClock, accounts: [] }, world.copy)
  expect(await codesIn(again)).toBe(`${second} ${first}`)
})

test('a restored journal has no index of addresses, which would keep those that are erased', async () => {
  await using world = await backedUp((journal) => journal.intake.append(makeSignups(1)), noWork, {
    duplicates: 'ignore',
  })
  await world.restore()
  using database = new DatabaseSync(world.copy, { readOnly: true })
  const find = "SELECT name FROM sqlite_schema WHERE name LIKE '%by_address'"
  expect(database.prepare(find).all()).toEqual([])
})

test('what people decided by their mails after the backup holds, and no mail goes again that has gone', async () => {
  const emails = ['ada', 'bob', 'eve', 'kay'].map((name) => `${name}@example.com`)
  const [ada = '', bob = '', eve = '', kay = ''] = emails
  const policy = { confirmation: { waitMs: 7 * 24 * 60 * minute } }
  const ids = new Map<string, string>()
  const asked = async (journal: Journal) => {
    for (const email of emails) await ask(journal, { email })
    await claim(journal, noon, { max: 0 })
  }
  const decide = async (journal: Journal) => {
    for (const { email, id, number } of await claim(journal, noon, { max: 3 })) {
      ids.set(email, id)
      await journal.outbox.settle(number, { kind: 'sent', at: noon })
    }
    await journal.confirmation.confirm(ids.get(ada) ?? '', noon)
    await journal.confirmation.decline(ids.get(bob) ?? '', noon)
  }
  await using world = await backedUp(asked, decide, policy)
  await world.restore()
  await world.inRestored(async (journal) => {
    expect(await claim(journal)).toMatchObject([{ email: kay }])
    const look = async (email: string) =>
      (await journal.confirmation.look(ids.get(email) ?? '', noon))?.state
    expect(await look(bob)).toBe('declined')
    expect(await look(eve)).toBe('pending')
    // She is in the list with the cells of the backup, and a second click adds no other.
    await journal.confirmation.confirm(ids.get(ada) ?? '', noon)
    const listed = (await journal.reader.page(0, 9)).map(({ signup }) => signup)
    expect(listed).toMatchObject([{ email: ada, confirmedAt: noon }])
    expect((await journal.reader.figures()).all.pending).toBe(2)
    await ask(journal, { email: bob }, 'share', noon + 60 * minute)
    await ask(journal, { email: eve, sheetTab: 'News' }, 'share', noon + 14 * minute)
    expect(await claim(journal, noon + 14 * minute)).toEqual([])
  })
})

const asked: Work = (journal) => ask(journal, { email: 'ada@example.com' })
const sent: Work = async (journal) => {
  for (const { number } of await claim(journal, noon)) {
    await journal.outbox.settle(number, { kind: 'sent', at: noon })
  }
}

test.each([
  ['before the backup', [async (journal) => [await asked(journal), await sent(journal)], noWork]],
  ['after the backup, which was made before it was decided on,', [asked, sent]],
] satisfies [string, [Work, Work]][])(
  'a mail that was sent %s counts once after a restore, and goes no second time',
  async (_, [first, second]) => {
    const policy = { confirmation: { waitMs: 7 * 24 * 60 * minute } }
    await using world = await backedUp(first, second, policy)
    await world.restore()
    await world.inRestored(async (journal) => {
      expect(await claim(journal, noon + 24 * 60 * minute)).toEqual([])
    })
    using database = new DatabaseSync(world.copy, { readOnly: true })
    expect(database.prepare('SELECT count(*) AS count FROM sending').get()).toEqual({ count: 1 })
  },
)

test('the status of a pending signup tells its own tab after a restore, though its person has left since', async () => {
  const policy = { confirmation: { waitMs: 7 * 24 * 60 * minute }, welcomes: true }
  const [listed, asked] = [makeSignup(), makeSignup({ sheetTab: 'News' })]
  const addressing = { share: 'share', language: 'en' }
  let welcome = ''
  await using world = await backedUp(
    async (journal) => {
      await journal.intake.append([listed], { greeting: addressing })
      for (const { id, number } of await claim(journal, noon)) {
        welcome = id
        await journal.outbox.settle(number, { kind: 'sent', at: noon })
      }
      await journal.intake.ask([asked], { addressing })
    },
    (journal) => journal.confirmation.leave(welcome, noon),
    policy,
  )
  await world.restore()
  await world.inRestored(async ({ intake, reader }) => {
    expect(await reader.page(0, 9)).toEqual([])
    expect(await intake.find(asked.id)).toMatchObject({ position: 0, sheetTab: 'News' })
  })
})

test('what was released or erased in quarantine after a backup is so after its restore, and is compared with the spreadsheet', async () => {
  const signups = ['kept', 'erased', 'again', 'once', 'waits'].map((name): Signup => {
    return makeSignup({ email: `${name.replace('again', 'once')}@example.com`, suspect: ['links'] })
  })
  const [kept, erased, again, once, waits] = signups.map(({ id }) => id)
  const release = async ({ quarantine }: Journal, ...ids: (Signup['id'] | undefined)[]) => {
    const found = await quarantine.find(ids.filter((id) => id !== undefined))
    return quarantine.release(
      found.map(({ position }) => position),
      noon,
    )
  }
  await using world = await backedUp(
    async (journal) => {
      await journal.intake.append(signups.slice(0, 4))
      await deliver(journal)
      await journal.intake.append(signups.slice(4))
    },
    async (journal) => {
      const [{ position } = expect.fail()] = await journal.quarantine.find([
        erased ?? expect.fail(),
      ])
      await journal.quarantine.erase([position])
      await release(journal, once)
      await release(journal, again, waits)
      await deliver(journal)
    },
    { holdsSuspects: true, duplicates: 'ignore' },
  )
  // A duplicate waits for its batch, too.
  expect(await world.restore()).toMatchObject({ waiting: 3 })
  await world.inRestored(async (journal) => {
    expect((await journal.reader.held(0, 9)).map(({ signup }) => signup.id)).toEqual([kept])
    const rows = await journal.compared.page(0, 9, 9)
    expect(rows.map(({ row }) => row)).toEqual(['none', 'waiting', 'waiting'])
    expect(await journal.delivery.fact(restoredFact)).toBe('5')
    await journal.compared.noteArrived(rows.map(({ position }) => position))
    expect(await journal.reader.backlog()).toBe(1)
    expect((await release(journal, ...signups.map(({ id }) => id))).signups).toBe(1)
  })
})
