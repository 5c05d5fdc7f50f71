import { expect, test } from 'vitest'

import { addressesInSheet, createGoogleWorld } from '../../harness/google-world.ts'
import { postSignup } from '../../harness/post-signup.ts'
import { bootService } from '../../harness/boot-service.ts'
import { startService } from '../../harness/start-service.ts'

const ada = { email: 'ada@example.com' }
const wait = { prefer: 'respond-async, wait=25' }

test('a signup that waits for Google is answered 201 when its row is in the sheet', async () => {
  await using world = await createGoogleWorld()
  await using service = await bootService({ env: world.env })
  const answer = await postSignup(service.url, ada, wait)
  expect(answer.status).toBe(201)
  expect(await addressesInSheet(world)).toEqual([ada.email])
})

test('a signup whose wait runs out is answered 202, and delivered later', async () => {
  await using world = await createGoogleWorld()
  world.emulator.faults.add({ on: 'any', times: 0, answer: 'unavailable' })
  await using service = await bootService({ env: world.env })
  const answer = await postSignup(service.url, ada, { prefer: 'wait=1' })
  expect(answer.status).toBe(202)
  expect(answer.headers.get('preference-applied')).toBeNull()
  expect(await answer.json()).toEqual({
    id: expect.any(String),
    status: 'accepted',
    sheetTab: 'Sheet1',
    receivedAt: expect.any(String),
  })
  world.emulator.faults.clear()
  await expect.poll(() => addressesInSheet(world)).toEqual([ada.email])
})

test('after SIGTERM signups that wait are answered 202 at once, and the process ends with code 0', async () => {
  await using world = await createGoogleWorld()
  world.emulator.faults.add({ on: 'any', times: 0, answer: 'unavailable' })
  await using service = await startService({ env: world.env })
  const answers = Promise.all(
    Array.from({ length: 20 }, () => postSignup(service.url, ada, { prefer: 'wait=30' })),
  )
  const accepted = async () => {
    const ready = await (await fetch(`${service.url}/api/ready`)).json()
    return (ready as { delivery: { backlog: number } }).delivery.backlog
  }
  await expect.poll(accepted).toBe(20)
  expect(await service.stop()).toBe(0)
  expect((await answers).map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 202))
})
