import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'

import { readJournal } from '../crash/crash-load.ts'
import { allDelivered, readiness, waitUntil } from '../../harness/delivery-state.ts'
import {
  limitFileSize,
  mountSmallDisk,
  noFileSizeLimit,
  noSmallDisk,
  type SmallDisk,
} from '../../harness/full-disk.ts'
import { addressesInSheet, createGoogleWorld } from '../../harness/google-world.ts'
import { postSignup } from '../../harness/post-signup.ts'
import { addressesIn } from '../../harness/read-workbook.ts'
import { type RunningService, ServiceEnded, startService } from '../../harness/start-service.ts'
import { tempFolder } from '../../harness/temp-folder.ts'

if (noSmallDisk !== undefined) {
  console.warn(`Skipping tests with a full disk, as no small disk can be mounted: ${noSmallDisk}`)
}
if (noFileSizeLimit !== undefined) {
  console.warn(`Skipping tests with limited files, as no limit can be set: ${noFileSizeLimit}`)
}

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
async function expectSafeWithoutRoom(
  service: RunningService,
  take: () => Promise<void> | void,
  giveBack: () => Promise<void> | void,
): Promise<string[]> {
  const accepted = ['first@example.com']
  const first = await postSignup(service.url, { email: 'first@example.com' })
  const { id } = (await first.json()) as { id: string }
  await allDelivered(service)

  await take()
  const refused = await postUntilRefused(service.url, 'full', accepted)
  expect(refused.status).toBe(503)
  expect(refused.headers.get('retry-after')).toMatch(/^[1-9]\d*$/)
  expect(await refused.json()).toMatchObject({ detail: expect.stringContaining('again') })
  expect((await fetch(`${service.url}/api/health`)).status).toBe(200)
  expect((await readiness(service)).status).toBe(503)
  const status = await fetch(`${service.url}/api/signup/${id}`)
  expect(await status.json()).toMatchObject({ id, status: 'written' })

  await giveBack()
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

describe.skipIf(noFileSizeLimit !== undefined)('with no file allowed to grow', () => {
  test('signups are refused with 503 and not stored while files cannot grow, and accepted when they can again', async () => {
    await using folder = await tempFolder()
    await using service = await startService({ dataDir: folder.path })
    const accepted = await expectSafeWithoutRoom(
      service,
      () => limitFileSize(service.pid, 4096),
      () => limitFileSize(service.pid, 'unlimited'),
    )
    await service.stop()
    expect(readJournal(folder.path).map(({ email }) => email)).toEqual(accepted)
    expect(addressesIn(folder.path)).toEqual(accepted)
  })
})

describe.skipIf(noSmallDisk !== undefined)('with a full disk', () => {
  test('signups are refused with 503 and not stored while the disk is full, and accepted when there is room (workbook)', async () => {
    await using folder = await tempFolder()
    await using disk = await mountSmallDisk(folder.path)
    await using service = await startService({ dataDir: folder.path })
    const accepted = await expectSafeWithoutRoom(service, disk.fill, disk.makeRoom)
    await service.stop()
    expect(readJournal(folder.path).map(({ email }) => email)).toEqual(accepted)
    expect(addressesIn(folder.path)).toEqual(accepted)
  })

  test('signups are refused with 503 and not stored while the disk is full, and accepted when there is room (Google)', async () => {
    await using folder = await tempFolder()
    await using disk = await mountSmallDisk(folder.path)
    await using world = await createGoogleWorld()
    await using service = await startService({ dataDir: folder.path, env: world.env })
    const accepted = await expectSafeWithoutRoom(service, disk.fill, disk.makeRoom)
    expect(await addressesInSheet(world)).toEqual(accepted)
  })

  test('a batch that is on its way when the disk fills up is written once', async () => {
    await using folder = await tempFolder()
    await using disk = await mountSmallDisk(folder.path)
    await using world = await createGoogleWorld()
    await using service = await startService({ dataDir: folder.path, env: world.env })
    await postSignup(service.url, { email: 'ada@example.com' })
    await allDelivered(service)
    world.emulator.faults.add({ on: 'batchUpdate', delayMs: 1500 })
    await postSignup(service.url, { email: 'grace@example.com' })
    const isApplied = async () => (await world.rows('Sheet1'))?.length === 3
    await waitUntil(isApplied, () => 'no batch was applied')
    await disk.fill()
    const cannotSettle = () => service.output().includes('delivery delayed')
    await waitUntil(cannotSettle, () => 'the batch was settled on a full disk')
    await disk.makeRoom()
    await allDelivered(service)
    expect(await addressesInSheet(world)).toEqual(['ada@example.com', 'grace@example.com'])
  })

  test('while only the disk of the workbook is full, signups are stored, the log says why, and delivery goes on when there is room', async () => {
    await using folder = await tempFolder()
    await using disk = await mountSmallDisk(join(folder.path, 'sheets'))
    await using service = await startService({ dataDir: folder.path })
    await expectTakenWhileFull(service, disk)
    await service.stop()
    expect(addressesIn(folder.path)).toEqual([
      'first@example.com',
      'second@example.com',
      'third@example.com',
    ])
    expect((await readdir(join(folder.path, 'sheets'))).sort()).toEqual(['.rollcall', 'Sheet1.csv'])
  })

  test('a start on a full disk ends with a message that names the journal, or does no harm', async () => {
    await using folder = await tempFolder()
    await using disk = await mountSmallDisk(folder.path)
    {
      await using service = await startService({ dataDir: folder.path })
      await postSignup(service.url, { email: 'ada@example.com' })
    }
    await disk.fill()
    const started = await startService({ dataDir: folder.path }).catch((error: unknown) => error)
    if (started instanceof ServiceEnded) {
      expect(started.code).toBe(1)
      expect(started.output).toMatch(/journal/)
    } else {
      await (started as RunningService).stop()
    }
    await disk.makeRoom()
    await using service = await startService({ dataDir: folder.path })
    await allDelivered(service)
    expect(addressesIn(folder.path)).toEqual(['ada@example.com'])
  })
})

async function expectTakenWhileFull(service: RunningService, disk: SmallDisk): Promise<void> {
  await postSignup(service.url, { email: 'first@example.com' })
  await allDelivered(service)
  await disk.fill()
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
  await disk.makeRoom()
  await allDelivered(service)
  expect((await readiness(service, 'strict')).status).toBe(200)
}
