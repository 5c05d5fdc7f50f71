// @module-tag slow
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { expect, test } from 'vitest'

import {
  expectToVerify,
  sendingTo,
  receiverFolder,
  startReceiver,
} from '../../harness/documented-receiver.ts'
import { makeSignup } from '../../harness/make-signup.ts'
import { projectRoot } from '../../harness/source-file.ts'
import { tempFolder } from '../../harness/temp-folder.ts'
import { webhookBody } from '../../src/outbox/webhook/endpoint.ts'
import { webhookPauseMs } from '../../src/outbox/ladder.ts'
import { readSnippets } from './docs-snippets.ts'

const documentedPage = readFileSync(join(projectRoot, 'docs/webhooks.md'), 'utf8')
const node = [process.execPath, 'receiver.mjs'] as const

test('the receiver in Node takes what is signed by either secret, works on it once, and refuses the rest', async () => {
  await using receiver = await startReceiver(node)
  await expectToVerify(receiver)
})

test('the receiver hands signups to a list as the recipe says, and asks for those again that were not taken', async () => {
  const asked: unknown[] = []
  const statuses = [200, 409, 500]
  const list = createServer((request, response) => {
    void json(request).then((body) => {
      asked.push([request.method, request.url, request.headers.authorization, body])
      response.writeHead(statuses[asked.length - 1] ?? 500).end('{}')
    })
  })
  await new Promise<void>((resolve) => list.listen(0, '127.0.0.1', resolve))
  await using _ = { [Symbol.asyncDispose]: async () => void list.close() }
  const { port } = list.address() as AddressInfo
  const own = /^async function work[^]*?^}$/m
  const code = readFileSync(join(receiverFolder, 'receiver.mjs'), 'utf8')
  expect(code).toMatch(own)
  const [recipe] = readSnippets('docs/webhooks.md').filter(({ language }) => language === 'js')
  await using folder = await tempFolder()
  writeFileSync(
    join(folder.path, 'receiver.mjs'),
    code.replace(own, () => recipe?.code ?? ''),
  )
  const env = {
    LISTMONK_URL: `http://127.0.0.1:${port}`,
    ...{ LISTMONK_USER: 'rollcall', LISTMONK_TOKEN: 'token', LISTMONK_LIST: '3' },
  }
  await using receiver = await startReceiver(node, env, folder.path)
  const { send } = sendingTo(receiver)
  const confirmed = makeSignup({ email: 'ada@example.com', name: 'Ada', confirmedAt: 1 })
  expect(await send('signup.accepted', confirmed)).toBe('taken')
  expect(await send('signup.accepted', makeSignup({ email: 'bob@example.com' }))).toBe('taken')
  const failed = 'the receiver answered with status 500'
  expect(await send('signup.accepted', makeSignup({ email: 'cy@example.com' }))).toBe(failed)
  expect(await send('signup.erased', confirmed)).toBe('taken')
  const by = ['POST', '/api/subscribers', `Basic ${btoa('rollcall:token')}`]
  const body = (email: string, name: string, isConfirmed: boolean) => {
    return { email, name, lists: [3], preconfirm_subscriptions: isConfirmed }
  }
  expect(asked).toEqual([
    [...by, body('ada@example.com', 'Ada', true)],
    [...by, body('bob@example.com', 'bob@example.com', false)],
    [...by, body('cy@example.com', 'cy@example.com', false)],
  ])
})

test('the message that docs/webhooks.md shows has the members of a real one', () => {
  const [, shown = ''] = documentedPage.split('## The messages')
  const [, text = ''] = /```json\n([^]*?)```/.exec(shown) ?? []
  const signup = makeSignup({ metadata: '{"campaign":"spring"}', fields: { company: 'x' } })
  const type = 'signup.accepted'
  const real = webhookBody({ type, position: 7, signup }, 'default', 0)
  expect(shapeOf(JSON.parse(text))).toEqual(shapeOf(JSON.parse(real)))
})

test('the pauses in docs/webhooks.md are those between the tries', () => {
  const [, row = ''] = /^ *\| pause (.*)\|$/m.exec(documentedPage) ?? []
  const units = { s: 1_000, min: 60_000, h: 3_600_000 } as const
  const pauses = [...row.matchAll(/(\d+) (s|min|h) /g)].map(([, count, unit]) => {
    return Number(count) * units[unit as keyof typeof units]
  })
  expect(pauses).toHaveLength(4)
  const real = Array.from({ length: 5 }, (_, at) => webhookPauseMs(at + 1, () => 0))
  expect(real).toEqual([...pauses, undefined])
})

/** The members of an object, and of those in it. */
function shapeOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return typeof value
  return Object.fromEntries(Object.entries(value).map(([key, it]) => [key, shapeOf(it)]))
}
