import { join } from 'node:path'
import { expect, test } from 'vitest'

import { waitUntil } from '../../harness/delivery-state.ts'
import { freezeNext } from '../../harness/freeze-next.ts'
import { ManualClock } from '../../harness/manual-clock.ts'
import { makeFullSignup } from '../../harness/make-signup.ts'
import { runCommand } from '../../harness/run-command.ts'
import { bootService } from '../../harness/boot-service.ts'
import { tempFolder } from '../../harness/temp-folder.ts'
import { openSqliteJournal } from '../../harness/sqlite-journal.ts'
import { filesWith } from '../../src/platform/node/files-with.ts'
import { startRetention } from '../../src/operations/retention.ts'

const day = 24 * 60 * 60 * 1000
const [old, recent] = ['old@example.com', 'recent@example.com']

/** A `DATA_DIR` whose journal has a signup that was written three days ago, and one of yesterday. */
async function threeDays() {
  const folder = await tempFolder()
  const dataDir = folder.path
  const first = makeFullSignup({ email: old, fields: { contact: old } })
  const second = makeFullSignup({ email: recent })
  const writtenAt = Date.now() - 3 * day
  await using journal = openSqliteJournal(join(dataDir, 'journal.db'))
  for (const [signup, at] of [
    [first, writtenAt],
    [second, Date.now() - day],
  ] as const) {
    await journal.intake.append([signup])
    await journal.delivery.settle((await freezeNext(journal.delivery))?.number ?? 0, at)
  }
  return {
    dataDir,
    id: first.id,
    writtenAt: new Date(writtenAt).toISOString(),
    exported: async () => {
      const { stdout, stderr } = await runCommand(['export', '--format', 'ndjson'], { dataDir })
      return { addresses: stdout.match(/\w+@example\.com/g), stderr }
    },
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  }
}

test('with RETENTION_DAYS the journal forgets what an old signup said, and still knows that it was written', async () => {
  await using world = await threeDays()
  const { dataDir, id, writtenAt } = world
  await using service = await bootService({ dataDir, env: { RETENTION_DAYS: '2' } })
  await waitUntil(
    async () => (await filesWith(dataDir, old)).length === 0,
    () => 'the address of the old signup is in DATA_DIR.',
  )
  const note = `RETENTION_DAYS: the journal does not know any more what was written up to ${writtenAt}.`
  const { addresses, stderr } = await world.exported()
  expect(addresses).toEqual([recent])
  expect(stderr).toContain(note)
  const status = await fetch(`${service.url}/api/signup/${id}`)
  expect(await status.json()).toMatchObject({ id, status: 'written', writtenAt })

  const verified = await runCommand(['verify', '--json'], { dataDir })
  expect(verified.stderr).toContain(note)
  expect(JSON.parse(verified.stdout)).toMatchObject({
    signups: { missing: 1, erased: 1 },
    expiredUpTo: writtenAt,
  })
  const backfilled = await runCommand(['backfill', '--all', '--deleted', '--json'], { dataDir })
  expect(JSON.parse(backfilled.stdout)).toMatchObject({ putBack: 1, expiredUpTo: writtenAt })
  const forgotten = await runCommand(['forget', old, '--json'], { dataDir })
  expect(JSON.parse(forgotten.stdout)).toMatchObject({
    byHand: expect.arrayContaining([`rows of the address that were written up to ${writtenAt}`]),
  })
})

test('without RETENTION_DAYS the journal keeps everything', async () => {
  await using world = await threeDays()
  await using service = await bootService({ dataDir: world.dataDir })
  // The first look is at the start, before the first answer.
  await fetch(`${service.url}/api/ready`)
  await service.stop()
  // The old signup has its address in a field, too.
  expect(await world.exported()).toMatchObject({ addresses: [old, old, recent] })
})

test('signups expire by the time of a journal that machines share, and not by the clock of one machine', async () => {
  await using folder = await tempFolder()
  await using journal = openSqliteJournal(join(folder.path, 'journal.db'))
  const { retention, erasure, confirmation } = journal
  const time = new ManualClock()
  await journal.intake.append([makeFullSignup({ email: old })])
  const batch = await freezeNext(journal.delivery)
  await journal.delivery.settle(batch?.number ?? 0, time.now() - day)
  const addresses = async () => (await journal.reader.page(0, 10)).map(({ signup }) => signup.email)

  const clock = new ManualClock(time.now() + 40 * day)
  const problems: unknown[] = []
  const log = { warn: (problem: unknown) => void problems.push(problem) }
  await using _running = startRetention({ retention, erasure, confirmation, time }, 30, clock, log)
  await expect.poll(() => clock.sleeping).toBe(2)
  expect(await addresses()).toEqual([old])

  time.jump(30 * day)
  await clock.run(60 * 60 * 1000)
  await expect.poll(addresses).not.toContain(old)
  expect(problems).toEqual([])
})
