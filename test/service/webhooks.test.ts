import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { beforeAll, expect, test } from 'vitest'

import { bootService } from '../../harness/boot-service.ts'
import { postBulk, postSignup } from '../../harness/post-signup.ts'
import { runCommand } from '../../harness/run-command.ts'
import { tempFolder } from '../../harness/temp-folder.ts'
import type { Kept } from '../../src/operations/person.ts'
import { startWebhookReceiver, testCertificate } from '../../harness/webhook-receiver.ts'

beforeAll(() => setDefaultCACertificates([...getCACertificates(), testCertificate]))

async function signUp(url: string, email: string): Promise<unknown> {
  const answer = await postSignup(url, { email, name: 'Ada', metadata: { plan: 'free' } })
  expect(answer.status).toBe(202)
  return ((await answer.json()) as { readonly id: unknown }).id
}

const webhooksOf = async (url: string) =>
  ((await (await fetch(`${url}/api/ready`)).json()) as { readonly webhooks: unknown }).webhooks

test('a signup goes to its webhook once, signed, and nothing that came before it was set', async () => {
  await using receiver = await startWebhookReceiver()
  await using folder = await tempFolder()
  {
    await using before = await bootService({ dataDir: folder.path })
    await signUp(before.url, 'before@example.com')
  }
  const boot = () => bootService({ env: receiver.webhookEnv, dataDir: folder.path })
  const first = await boot()
  const id = await signUp(first.url, 'ada@example.com')
  await expect.poll(() => receiver.received.length).toBe(1)
  expect(receiver.received[0]?.body).toEqual({
    type: 'signup.accepted',
    timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    data: {
      ...{ id, position: 2, site: 'default', sheetTab: 'Sheet1', email: 'ada@example.com' },
      ...{ name: 'Ada', source: 'api', tags: [], metadata: { plan: 'free' }, fields: {} },
      receivedAt: expect.any(String),
    },
  })
  await expect.poll(() => webhooksOf(first.url)).toEqual({ state: 'ok' })
  await first.stop()
  await using second = await boot()
  await signUp(second.url, 'bob@example.com')
  await expect.poll(() => receiver.received.length).toBe(2)
  expect(receiver.received[1]?.body.data).toMatchObject({ email: 'bob@example.com' })
  const env = { ...receiver.webhookEnv, DATA_DIR: folder.path }
  const takenOf = async (email: string) => {
    const { stdout } = await runCommand(['person', email, '--json'], { env })
    return (JSON.parse(stdout) as { readonly kept: readonly Kept[] }).kept.map(
      (it) => it['webhooks'],
    )
  }
  expect(await takenOf('before@example.com')).toEqual([[]])
  const host: unknown = expect.stringMatching(/^127\.0\.0\.1:\d+$/)
  expect(await takenOf('ada@example.com')).toEqual([[{ webhook: 1, host }]])
  const { stdout } = await runCommand(['person', 'ada@example.com'], { env })
  expect(stdout).toMatch(/^ {2}webhooks: 1 \(127\.0\.0\.1:\d+\)$/m)
})

test('an endpoint that hangs holds up neither the other one nor rows', async () => {
  await using slow = await startWebhookReceiver('http')
  await using quick = await startWebhookReceiver('http')
  slow.answer = () => {}
  const urls = [slow, quick].map(({ webhookEnv }) => webhookEnv['WEBHOOK_URL'])
  const webhooks = urls.map((url) => ({ url, secretVariable: 'WEBHOOK_SECRET_A' }))
  await using service = await bootService({
    env: {
      ROLLCALL_CONFIG: JSON.stringify({ sites: { launch: { webhooks } } }),
      WEBHOOK_SECRET_A: slow.webhookEnv['WEBHOOK_SECRET'] ?? '',
    },
  })
  const signups = Array.from({ length: 12 }, (_, at) => ({ email: `${at}@example.com` }))
  const rows = await postBulk(service.url, { site: 'launch', signups }, { prefer: 'wait=20' })
  expect(rows.status).toBe(201)
  await expect.poll(() => quick.received.length).toBe(signups.length)
  // All of its window, of which none has ended.
  await expect.poll(() => slow.received.length).toBe(10)
})

test('an alert tells of a webhook that wants no more messages', async () => {
  await using receiver = await startWebhookReceiver()
  await using alerts = await startWebhookReceiver()
  receiver.answer = (response) => void response.writeHead(410).end()
  const env = { ...receiver.webhookEnv, ...alerts.env }
  await using service = await bootService({ env, noticeTimes: { lookMs: 20 } })
  await signUp(service.url, 'ada@example.com')
  await expect
    .poll(() => alerts.received.map(({ body }) => body.type))
    .toEqual(['webhook.disabled'])
  expect(await webhooksOf(service.url)).toEqual({ state: 'failing' })
})
