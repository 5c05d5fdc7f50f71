import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

import { postBulk, postSignup } from './post-signup.ts'
import { type RunningService, startService } from './start-service.ts'
import { tempFolder } from './temp-folder.ts'

const email = 'ada@example.com'
const wait = { prefer: 'wait=20' }

function filesIn(service: RunningService): string[] {
  const names = readdirSync(join(service.folder, 'data', 'sheets'))
  return names.filter((name) => name.endsWith('.csv')).sort()
}

test('with a list of tabs only these and the default one are taken, in the spelling of the list', async () => {
  await using service = await startService({
    env: { SHEET_TABS: 'News, Größe', DEFAULT_SHEET_TAB: 'Waitlist', MAX_SHEET_TABS: '0' },
  })
  const config = await fetch(`${service.url}/api/config`)
  expect(await config.json()).toMatchObject({
    sheetTabs: ['News', 'Größe'],
    defaultSheetTab: 'Waitlist',
  })
  for (const [sheetTab, tab] of [
    ['news', 'News'],
    [' NEWS ', 'News'],
    ['GRÖSSE'.replace('SS', 'ß'), 'Größe'],
    ['waitlist', 'Waitlist'],
    ['', 'Waitlist'],
  ] as const) {
    const answer = await postSignup(service.url, { email, sheetTab }, wait)
    expect(answer.status).toBe(201)
    expect(await answer.json()).toMatchObject({ sheetTab: tab })
  }
  const refused = await postSignup(service.url, { email: 'nobody', sheetTab: 'Other' })
  expect(refused.status).toBe(422)
  expect(await refused.json()).toMatchObject({
    errors: [{ field: 'email' }, { field: 'sheetTab', message: expect.any(String) }],
  })
  const some = await postBulk(
    service.url,
    {
      signups: [
        { email, sheetTab: 'Other' },
        { email, sheetTab: 'nEWS' },
      ],
    },
    wait,
  )
  expect(some.status).toBe(207)
  expect(await some.json()).toMatchObject({
    results: [
      { index: 0, errors: [{ field: 'sheetTab' }] },
      { index: 1, status: 'written' },
    ],
  })
  expect(filesIn(service)).toHaveLength(3)
})

test('signups bring so many new tabs into being as allowed, counted across restarts', async () => {
  await using folder = await tempFolder()
  const start = () => startService({ dataDir: folder.path, env: { MAX_SHEET_TABS: '2' } })
  const post = async (service: RunningService, sheetTab: string) =>
    (await postSignup(service.url, { email, sheetTab })).status
  {
    await using service = await start()
    expect(await post(service, 'Sheet1')).toBe(202)
    expect(await post(service, 'One')).toBe(202)
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => post(service, `New ${index}`)),
    )
    expect(answers.filter((status) => status === 202)).toHaveLength(1)
    expect(answers.filter((status) => status === 422)).toHaveLength(19)
  }
  await using service = await start()
  expect(await post(service, 'ONE')).toBe(202)
  const refused = await postSignup(service.url, { email, sheetTab: 'Three' })
  expect(refused.status).toBe(422)
  expect(await refused.json()).toMatchObject({ errors: [{ field: 'sheetTab' }] })
  const some = await postBulk(service.url, {
    signups: [{ email, sheetTab: 'Three' }, { email }, { email, sheetTab: 'one' }],
  })
  expect(some.status).toBe(207)
  expect(await some.json()).toMatchObject({
    accepted: 2,
    results: [{ errors: [{ field: 'sheetTab' }] }, { index: 1 }, { index: 2 }],
  })
})
