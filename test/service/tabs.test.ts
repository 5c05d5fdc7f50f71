import { expect, test } from 'vitest'

import { postBulk, postSignup } from '../../harness/post-signup.ts'
import { bootService } from '../../harness/boot-service.ts'

const email = 'ada@example.com'

test('one client cannot use up the new tabs of all, and no page shows a form for a tab that would be refused', async () => {
  const apiKey = 'a-key-of-16-characters'
  await using service = await bootService({
    env: { TRUST_PROXY: '1', MAX_SHEET_TABS: '20', API_KEYS: apiKey },
  })
  const from = (address: string) => ({ 'x-forwarded-for': address })
  const post = async (address: string, sheetTab: string) =>
    postSignup(service.url, { email, sheetTab }, from(address))
  const pageStatus = async (address: string, path: string) =>
    (await fetch(service.url + path, { headers: { ...from(address), accept: 'text/html' } })).status
  const greedy = await Promise.all(
    Array.from({ length: 20 }, (_, index) => post('192.0.2.1', `New ${index}`)),
  )
  expect(greedy.filter(({ status }) => status === 202)).toHaveLength(10)
  const refused = greedy.find(({ status }) => status === 422)
  expect(await refused?.json()).toMatchObject({
    errors: [{ field: 'sheetTab', message: expect.stringMatching(/name one that exists/) }],
  })
  for (const page of ['/', '/api/signup/form']) {
    expect(await pageStatus('192.0.2.1', `${page}?tab=Launch`)).toBe(400)
    expect(await pageStatus('192.0.2.1', page)).toBe(200)
    expect(await pageStatus('192.0.2.2', `${page}?tab=Launch`)).toBe(200)
  }
  expect((await post('192.0.2.2', 'Launch')).status).toBe(202)
  expect(await pageStatus('192.0.2.1', '/?tab=launch')).toBe(200)
  expect((await post('192.0.2.1', 'LAUNCH')).status).toBe(202)
  const bulk = await postBulk(
    service.url,
    {
      signups: Array.from({ length: 20 }, (_, index) => ({ email, sheetTab: `Import ${index}` })),
    },
    { ...from('192.0.2.1'), authorization: `Bearer ${apiKey}` },
  )
  expect(await bulk.json()).toMatchObject({ accepted: 9, rejected: 11 })
  expect((await post('192.0.2.3', 'One more')).status).toBe(422)
  expect(await pageStatus('192.0.2.3', '/?tab=One%20more')).toBe(400)
})
