import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'

import { freezeNext } from '../../harness/freeze-next.ts'
import { makeSignup } from '../../harness/make-signup.ts'
import { openSqliteJournal } from '../../harness/sqlite-journal.ts'
import { tempFolder } from '../../harness/temp-folder.ts'
import type { Journal } from '../../src/journal/contracts/journal.ts'
import { claim, confirming, noon, send } from './contracts/outbox-contract.ts'

const dayMs = 24 * 60 * 60_000
const email = 'ada.lovelace@example.com'
const addressing = { share: 'share', language: 'en' }

/** A journal in files of its own, and how to look into them. */
async function openWorld() {
  await using stack = new AsyncDisposableStack()
  const { path } = stack.use(await tempFolder())
  const file = join(path, 'journal.db')
  const journal = stack.use(openSqliteJournal(file, { ...confirming, welcomes: true }))
  const all = stack.move()
  return {
    journal,
    /** The tables that have the address. */
    tables: () => {
      using database = new DatabaseSync(file, { readOnly: true })
      return ['signup', 'pending', 'message'].filter((table) => {
        const found = database.prepare(`SELECT 1 FROM ${table} WHERE email = ?`)
        return found.get(email) !== undefined
      })
    },
    files: async () => {
      const names = await readdir(path)
      const texts = await Promise.all(names.map((name) => readFile(join(path, name), 'latin1')))
      return names.filter((_, at) => texts[at]?.includes(email))
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}

/** Signs up and gets a mail. Resolves with its id. */
async function asked(journal: Journal, now: number): Promise<string> {
  await journal.intake.ask([makeSignup({ email, receivedAt: now })], { addressing })
  const [mail] = await claim(journal, now)
  await journal.outbox.settle(mail?.number ?? 0, { kind: 'sent', at: now })
  return mail?.id ?? expect.fail('no mail')
}

/** Signs up, confirms, and gets the row and the welcome. Resolves with the id of the welcome. */
async function joinList(
  journal: Journal,
  outcome: 'sent' | 'unanswered' = 'sent',
): Promise<string> {
  await journal.confirmation.confirm(await asked(journal, noon), noon)
  const batch = await freezeNext(journal.delivery)
  await journal.delivery.settle(batch?.number ?? 0, noon)
  const [welcome] = await claim(journal)
  const nextAt = noon + 60_000
  await journal.outbox.settle(
    welcome?.number ?? 0,
    outcome === 'sent'
      ? { kind: 'sent', at: noon }
      : { kind: 'later', at: noon, nextAt, reason: 'no answer' },
  )
  return welcome?.id ?? expect.fail('no welcome')
}

async function removeRows({ erasure }: Journal): Promise<void> {
  for (const { position } of await erasure.removals(0)) await erasure.removed([position])
}

test.each(['sent', 'unanswered'] as const)(
  'when somebody has left by a welcome that was %s, and their row is gone, their address is in no table and no file',
  async (outcome) => {
    await using world = await openWorld()
    const { journal } = world
    const link = await joinList(journal, outcome)
    expect(world.tables()).toEqual(['signup', 'message'])
    await journal.confirmation.leave(link, noon)
    expect(world.tables()).toEqual([])
    expect(await send(journal, noon + 60_000)).toEqual([])
    await removeRows(journal)
    expect(await journal.erasure.scrub()).toBe(true)
    expect(await world.files()).toEqual([])
    expect(await journal.confirmation.look(link, noon)).toMatchObject({ state: 'left' })
  },
)

test.each([
  ['sent', 'by a new signup'],
  ['unanswered', 'by a new signup'],
  ['sent', 'by a new confirmation'],
  ['unanswered', 'by a new confirmation'],
] as const)(
  'after a welcome that was %s, who has left and comes back %s leaves again by its link',
  async (outcome, way) => {
    await using world = await openWorld()
    const { journal } = world
    const listed = async () => {
      const page = await journal.reader.page(0, 100)
      return page.filter(({ signup }) => signup.email === email).length
    }
    const link = await joinList(journal, outcome)
    await journal.confirmation.leave(link, noon)
    const now = noon + 3 * dayMs
    if (way === 'by a new signup') {
      const signup = makeSignup({ email, receivedAt: now })
      await journal.intake.append([signup], { greeting: addressing })
    } else {
      await journal.confirmation.confirm(await asked(journal, now), now)
    }
    expect(await listed()).toBe(1)
    await journal.confirmation.leave(link, now)
    expect(await listed()).toBe(0)
  },
)
