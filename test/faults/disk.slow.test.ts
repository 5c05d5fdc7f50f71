// @module-tag slow
import { describe, expect, test } from 'vitest'

import { type BootedService, bootService } from '../../harness/boot-service.ts'
import { allDelivered, readiness, waitUntil } from '../../harness/delivery-state.ts'
import { interceptedFiles } from '../../harness/failing-files.ts'
import { limitFileSize, underSmallLimit } from '../../harness/file-size-limit.ts'
import { postSignup } from '../../harness/post-signup.ts'
import { addressesIn } from '../../harness/read-workbook.ts'
import { failedStart, type RunningService, startService } from '../../harness/start-service.ts'
import { tempFolder } from '../../harness/temp-folder.ts'
import { createWorkbook } from '../../src/spreadsheet/workbook/workbook.ts'
import { readJournal } from '../crash/crash-load.ts'

/** Lets no file of the service grow, as a full disk does. */
const fill = ({ pid }: RunningService) => limitFileSize(pid, 4096)
const makeRoom = ({ pid }: RunningService) => limitFileSize(pid, 'unlimited')

/** Posts signups until one is not answered with 202. */
async function postUntilRefused(url: string, prefix: string, accepted: string[]) {
  for (let count = 1; count <= 100; count += 1) {
    const email = `${prefix}${count}@example.com`
    const answer = await postSignup(url, { email })
    if (answer.status !== 202) return answer
    accepted.push(email)
  }
  throw new Error('100 signups were accepted by a service that cannot store any.')
}

/** Expects that a service without room for its journal refuses signups, loses none, and goes on without a restart. */
async function expectSafeWithoutRoom(service: RunningService): Promise<string[]> {
  const accepted = ['first@example.com']
  const first = await postSignup(service.url, { email: 'first@example.com' })
  const { id } = (await first.json()) as { id: string }
  await allDelivered(service)

  fill(service)
  const refused = await postUntilRefused(service.url, 'full', accepted)
  expect(refused.status).toBe(503)
  expect(refused.headers.get('retry-after')).toMatch(/^[1-9]\d*$/)
  expect(await refused.json()).toMatchObject({ detail: expect.stringContaining('stored nothing') })
  expect((await fetch(`${service.url}/api/health`)).status).toBe(200)
  expect((await readiness(service)).status).toBe(503)
  const status = await fetch(`${service.url}/api/signup/${id}`)
  expect(await status.json()).toMatchObject({ id, status: 'written' })

  makeRoom(service)
  // A load balancer sends no signup to a service that is not ready, so it must become ready by itself.
  const isReady = async () => (await readiness(service)).status === 200
  await waitUntil(isReady, () => 'the service is not ready although there is room again')
  const email = 'last@example.com'
  expect((await postSignup(service.url, { email })).status).toBe(202)
  accepted.push(email)
  await allDelivered(service)
  expect((await readiness(service, 'strict')).status).toBe(200)
  return accepted
}

// Only Linux can limit the files of another process.
describe.skipIf(process.platform !== 'linux')('when the disk is full', () => {
  test('signups are refused with 503 and not stored while no file can grow, and accepted when there is room', async () => {
    await using folder = await tempFolder()
    await using service = await startService({ dataDir: folder.path })
    const accepted = await expectSafeWithoutRoom(service)
    await service.stop()
    expect(readJournal(folder.path).map(({ email }) => email)).toEqual(accepted)
    expect(addressesIn(folder.path)).toEqual(accepted)
  })

  test.each(['a new journal', 'a journal with signups'])(
    'a start with %s while no file can grow ends with a message, and the next start finds every signup',
    async (journal) => {
      await using folder = await tempFolder()
      const emails = journal === 'a new journal' ? [] : ['ada@example.com']
      if (emails.length > 0) {
        await using service = await startService({ dataDir: folder.path })
        for (const email of emails) await postSignup(service.url, { email })
      }
      const ended = await failedStart({ dataDir: folder.path, under: underSmallLimit })
      expect(ended.code).toBe(1)
      expect(ended.output).toMatch(/^The journal .*journal\.db cannot be opened: .*Check the disk/m)
      await using service = await startService({ dataDir: folder.path })
      await postSignup(service.url, { email: 'last@example.com' })
      await allDelivered(service)
      expect(addressesIn(folder.path)).toEqual([...emails, 'last@example.com'])
    },
  )
})

test('while only the disk of the workbook is full, signups are stored, the log says why, and delivery goes on when there is room', async () => {
  await using folder = await tempFolder()
  let isFull = false
  const files = interceptedFiles(async (change) => {
    if (!isFull || !['append', 'replace'].includes(change.kind)) return change.make()
    await change.makePart(0.5)
    throw Object.assign(new Error('simulated by the test'), { code: 'ENOSPC' })
  })
  await using service = await bootService({
    dataDir: folder.path,
    wrap: ({ location }) => createWorkbook({ directory: location }, files),
  })
  await postSignup(service.url, { email: 'first@example.com' })
  await allDelivered(service)
  isFull = true
  await expectTakenWhileFull(service)
  isFull = false
  await allDelivered(service)
  expect((await readiness(service, 'strict')).status).toBe(200)
  expect(addressesIn(folder.path)).toEqual([
    'first@example.com',
    'second@example.com',
    'third@example.com',
  ])
})

async function expectTakenWhileFull(service: BootedService): Promise<void> {
  expect((await postSignup(service.url, { email: 'second@example.com' })).status).toBe(202)
  const isBlocked = async () => (await readiness(service)).body.delivery.state === 'blocked'
  await waitUntil(isBlocked, () => 'delivery is not blocked')
  const full = 'The disk is full'
  expect(await readiness(service)).toMatchObject({
    status: 200,
    body: { delivery: { error: full } },
  })
  expect(service.output()).toMatch(/the disk is full \(ENOSPC\).*Free some space/)
  expect((await readiness(service, 'strict')).status).toBe(503)
  const third = await postSignup(service.url, { email: 'third@example.com' })
  expect(third.status).toBe(202)
  expect(await third.json()).toMatchObject({ delivery: { state: 'blocked', error: full } })
}
