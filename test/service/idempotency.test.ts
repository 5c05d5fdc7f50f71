import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'

import { postSignup } from '../../harness/post-signup.ts'
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
