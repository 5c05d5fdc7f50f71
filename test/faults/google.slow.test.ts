// @module-tag slow
import { rm } from 'node:fs/promises'
import { expect, test } from 'vitest'

import { allDelivered, readiness, waitUntil } from '../../harness/delivery-state.ts'
import { addressesInSheet, createGoogleWorld } from '../../harness/google-world.ts'
import { postSignup } from '../../harness/post-signup.ts'
import { startService } from '../../harness/start-service.ts'
import { tempFolder } from '../../harness/temp-folder.ts'

// What single calls answer is the matter of test/spreadsheet/google-outcomes.test.ts, and what people do to
// tabs that of the simulation.

const [ada, grace, waiting] = ['ada', 'grace', 'waiting'].map((name) => `${name}@example.com`) as [
  string,
  string,
  string,
]

async function signUp(url: string, ...emails: readonly string[]): Promise<void> {
  for (const email of emails) expect((await postSignup(url, { email })).status).toBe(202)
}

test('while Google answers nothing but errors, visitors are answered and strict readiness stays 200', async () => {
  await using world = await createGoogleWorld()
  await using service = await startService({ env: world.env })
  const { faults } = world.emulator
  faults.add({ times: 0, answer: 'unavailable' })
  await signUp(service.url, ada, grace)
  await waitUntil(
    () => service.output().includes('delivery delayed'),
    () => 'the log says nothing of the outage',
  )
  const outage = { status: 200, body: { delivery: { state: 'delayed', backlog: 2 } } }
  expect(await readiness(service)).toMatchObject(outage)
  expect(await readiness(service, 'strict')).toMatchObject(outage)
  faults.clear()
  await allDelivered(service)
  expect(await addressesInSheet(world)).toEqual([ada, grace])
})

test('when DATA_DIR is lost, the signups that were not delivered are lost, and no row', async () => {
  await using folder = await tempFolder()
  await using world = await createGoogleWorld()
  const options = { dataDir: folder.path, env: world.env }
  {
    await using service = await startService(options)
    await signUp(service.url, ada)
    await allDelivered(service)
    world.emulator.faults.add({ times: 0, answer: 'unavailable' })
    await signUp(service.url, waiting)
    await service.kill()
  }
  await rm(folder.path, { recursive: true })
  world.emulator.faults.clear()
  await using service = await startService(options)
  await signUp(service.url, grace)
  await allDelivered(service)
  expect(await addressesInSheet(world)).toEqual([ada, grace])
})

test('while somebody else uses up the quota, rows wait for their turn and arrive once', async () => {
  await using world = await createGoogleWorld({
    quota: [{ access: 'any', per: 'user', limit: 20, windowMs: 5000 }],
  })
  const { url } = world.emulator
  const token = world.emulator.issueToken(world.email)
  const get = () =>
    fetch(`${url}/v4/spreadsheets/${world.spreadsheetId}`, {
      headers: { authorization: `Bearer ${token}` },
    })
  await using service = await startService({ env: world.env })
  await signUp(service.url, ada)
  await allDelivered(service)
  while ((await get()).status !== 429);
  await signUp(service.url, grace)
  // Somebody else takes each call that becomes free meanwhile.
  const isDelayed = async () => {
    await get()
    return service.output().includes('Quota exceeded')
  }
  await waitUntil(isDelayed, () => 'the quota delays no batch')
  await allDelivered(service)
  expect(await addressesInSheet(world)).toEqual([ada, grace])
})
