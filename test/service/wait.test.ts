import { join } from 'node:path'
import { expect, test } from 'vitest'

import { addressesInSheet, createGoogleWorld } from '../../harness/google-world.ts'
import { postSignup } from '../../harness/post-signup.ts'
import { readTab } from '../../harness/read-workbook.ts'
import { bootService } from '../../harness/boot-service.ts'
import { startService } from '../../harness/start-service.ts'

const ada = { email: 'ada@example.com' }
const wait = { prefer: 'respond-async, wait=25' }

test('a signup that waits is answered 201 when its row is in the spreadsheet', async () => {
  await using service = await bootService()
  const answer = await postSignup(service.url, ada, wait)
  expect(readTab(join(service.folder, 'data'), 'Sheet1.csv')).toHaveLength(2)
  expect(answer.status).toBe(201)
  expect(answer.headers.get('preference-applied')).toBe('wait=25')
  const { id, ...body } = (await answer.json()) as { id: string }
  expect(body).toEqual({ status: 'written', sheetTab: 'Sheet1', receivedAt: expect.any(String) })
  const status = await fetch(`${service.url}/api/signup/${id}`)
  expect(await status.json()).toMatchObject({ status: 'written' })
})

test('a signup that asks to wait longer than 30 seconds waits 30 at most', async () => {
  await using service = await bootService()
  const answer = await postSignup(service.url, ada, { prefer: 'wait=3600' })
  expect(answer.headers.get('preference-applied')).toBe('wait=30')
})

test('a signup that waits for Google is answered 201 when its row is in the sheet', async () => {
  await using world = await createGoogleWorld()
  await using service = await bootService({ env: world.env })
  const answer = await postSignup(service.url, ada, wait)
  expect(answer.status).toBe(201)
  expect(await addressesInSheet(world)).toEqual([ada.email])
})

test.each(['wait=soon', 'wait=0', 'respond-async', 'wait=-1'])(
  'a signup with "Prefer: %s" does not wait',
  async (prefer) => {
    await using world = await createGoogleWorld()
    world.emulator.faults.add({ on: 'any', times: 0, answer: 'unavailable' })
    await using service = await bootService({ env: world.env })
    const answer = await postSignup(service.url, ada, { prefer })
    expect(answer.status).toBe(202)
    expect(answer.headers.get('preference-applied')).toBeNull()
  },
)

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

test('while delivery is blocked no signup waits, and the 202 says why', async () => {
  await using world = await createGoogleWorld()
  const sheet = world.emulator.spreadsheet(world.spreadsheetId)
  sheet.share(world.email, 'none')
  await using service = await bootService({ env: world.env })
  await expect.poll(() => service.output()).toContain('does not have permission')
  const answer = await postSignup(service.url, ada, { prefer: 'wait=30' })
  expect(answer.status).toBe(202)
  expect(await answer.json()).toMatchObject({
    status: 'accepted',
    delivery: { state: 'blocked', error: 'The caller does not have permission' },
  })
})

test('when delivery becomes blocked during a wait, the wait ends with the reason', async () => {
  await using world = await createGoogleWorld()
  const sheet = world.emulator.spreadsheet(world.spreadsheetId)
  await using service = await bootService({ env: world.env })
  expect((await postSignup(service.url, ada, wait)).status).toBe(201)
  sheet.share(world.email, 'none')
  const answer = await postSignup(service.url, ada, { prefer: 'wait=30' })
  expect(answer.status).toBe(202)
  expect(await answer.json()).toMatchObject({
    delivery: { state: 'blocked', error: 'The caller does not have permission' },
  })
})

test('when a tab turns out to be protected, only the waits for that tab end', async () => {
  await using world = await createGoogleWorld()
  const sheet = world.emulator.spreadsheet(world.spreadsheetId)
  sheet.addTab('Locked', [['Email']])
  sheet.protectTab('Locked')
  await using service = await bootService({ env: world.env })
  const [locked, free] = await Promise.all([
    postSignup(service.url, { ...ada, sheetTab: 'Locked' }, { prefer: 'wait=30' }),
    postSignup(service.url, { ...ada, sheetTab: 'Free' }, wait),
  ])
  expect(free.status).toBe(201)
  expect(locked.status).toBe(202)
  expect(await locked.json()).toMatchObject({
    delivery: { state: 'blocked', error: expect.stringContaining('protected') },
  })
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
