import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'

import { postBulk, postSignup } from '../../harness/post-signup.ts'
import { readTab } from '../../harness/read-workbook.ts'
import { bootService } from '../../harness/boot-service.ts'
import { startService } from '../../harness/start-service.ts'
import { tempFolder } from '../../harness/temp-folder.ts'

const ada = { email: 'ada@example.com', name: 'Ada', tags: ['a'] }
const keyed = (key: string) => ({ 'idempotency-key': key })

interface Receipt {
  readonly id: string
  readonly receivedAt: string
}

const rowsIn = (folder: string) => readTab(folder, 'Sheet1.csv').slice(1)

test('each API key has idempotency keys of its own, all other clients share theirs, and no API key is stored', async () => {
  await using folder = await tempFolder()
  const apiKeys = ['the-key-of-the-first-client', 'the-key-of-the-other-client']
  const from = (apiKey: string) => ({ ...keyed('order-1'), authorization: `Bearer ${apiKey}` })
  const senders = [keyed('order-1'), from(apiKeys[0] ?? ''), from(apiKeys[1] ?? '')]
  {
    await using service = await bootService({
      dataDir: folder.path,
      env: { API_KEYS: apiKeys.join() },
    })
    const send = (sender: number, name: string) =>
      postSignup(service.url, { ...ada, name }, senders[sender])
    for (const sender of senders.keys()) {
      const answer = await send(sender, `name ${sender}`)
      expect(answer.status).toBe(202)
      expect(answer.headers.get('idempotency-replayed')).toBeNull()
    }
    for (const sender of senders.keys()) {
      const again = await send(sender, `name ${sender}`)
      expect(again.headers.get('idempotency-replayed')).toBe('true')
      expect((await send(sender, `name ${sender + 1}`)).status).toBe(422)
    }
    const wrongKey = await postSignup(service.url, { ...ada, name: 'name 0' }, from('nobodys-key'))
    expect(wrongKey.headers.get('idempotency-replayed')).toBe('true')
  }
  for (const file of await readdir(folder.path, { recursive: true, withFileTypes: true })) {
    if (!file.isFile()) continue
    const content = await readFile(join(file.parentPath, file.name))
    for (const apiKey of apiKeys) expect(content.includes(apiKey), file.name).toBe(false)
  }
})

test('a repeated request gets its first answer after a restart, and after a kill right behind that answer', async () => {
  await using folder = await tempFolder()
  const receipts: Receipt[] = []
  for (const end of ['kill', 'stop'] as const) {
    await using service = await startService({ dataDir: folder.path })
    const answer = await postSignup(service.url, ada, keyed('key-1'))
    expect(answer.status).toBe(202)
    receipts.push((await answer.json()) as Receipt)
    await service[end]()
  }
  expect(new Set(receipts.map(({ id, receivedAt }) => id + receivedAt)).size).toBe(1)
  await using service = await startService({ dataDir: folder.path })
  const last = await postSignup(service.url, ada, { ...keyed('key-1'), prefer: 'wait=20' })
  expect(last.status).toBe(201)
  expect(rowsIn(folder.path)).toHaveLength(1)
})

test('a refused request is not remembered, so the corrected one is accepted with the same key', async () => {
  await using service = await bootService({ env: { MAX_SHEET_TABS: '0' } })
  for (const wrong of [{ email: 'nobody' }, { ...ada, sheetTab: 'Extra' }]) {
    expect((await postSignup(service.url, wrong, keyed('key-1'))).status).toBe(422)
    expect((await postBulk(service.url, { signups: [wrong] }, keyed('key-2'))).status).toBe(422)
  }
  expect((await postSignup(service.url, ada, keyed('key-1'))).status).toBe(202)
  expect((await postBulk(service.url, { signups: [ada] }, keyed('key-2'))).status).toBe(202)
})

test('a repeated bulk request gets its whole first answer, rejected signups included', async () => {
  await using folder = await tempFolder()
  const deep = '['.repeat(900) + ']'.repeat(900)
  const body = `{"signups":[
    {"email":"a@example.com"}, {"email":"nobody"}, {"email":"b@example.com","sheetTab":"Extra"},
    {"email":"c@example.com"}, {"email":"d@example.com","name":${deep}}
  ]}`
  const env = { MAX_SHEET_TABS: '0' }
  let first: { results: object[] }
  {
    await using service = await bootService({ dataDir: folder.path, env })
    const answer = await postBulk(service.url, body, keyed('key-1'))
    expect(answer.status).toBe(207)
    first = (await answer.json()) as typeof first
    expect(first).toMatchObject({ accepted: 2, rejected: 3 })
  }
  await using service = await bootService({ dataDir: folder.path, env })
  const replay = await postBulk(service.url, body, { ...keyed('key-1'), prefer: 'wait=20' })
  expect(replay.status).toBe(207)
  expect(replay.headers.get('idempotency-replayed')).toBe('true')
  const results = first.results.map((result, index) =>
    index === 0 || index === 3 ? { ...result, status: 'written' } : result,
  )
  expect(await replay.json()).toEqual({ ...first, results })
  const other = body.replace('"nobody"', '"somebody"')
  expect((await postBulk(service.url, other, keyed('key-1'))).status).toBe(422)
  expect(rowsIn(folder.path).map(([email]) => email)).toEqual(['a@example.com', 'c@example.com'])
})
