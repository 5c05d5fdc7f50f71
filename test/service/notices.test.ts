import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { beforeAll, expect, test } from 'vitest'

import { bootService } from '../../harness/boot-service.ts'
import { createDatabaseWorld } from '../../harness/database-world.ts'
import { createGoogleWorld } from '../../harness/google-world.ts'
import { personalWords } from '../../harness/personal-data.ts'
import { postSignup } from '../../harness/post-signup.ts'
import { startPostgres } from '../../harness/postgres-server.ts'
import { tempFolder } from '../../harness/temp-folder.ts'
import { startWebhookReceiver, testCertificate } from '../../harness/webhook-receiver.ts'

beforeAll(() => setDefaultCACertificates([...getCACertificates(), testCertificate]))

const noticeTimes = { lookMs: 20, toldAfterMs: 1_000, calmMs: 200 }

test('a receiver that hangs holds up neither a signup nor the stop, and gets the notice again with the same id', async () => {
  await using world = await createGoogleWorld()
  await using receiver = await startWebhookReceiver()
  await using folder = await tempFolder()
  const sheet = world.emulator.spreadsheet(world.spreadsheetId)
  sheet.share(world.email, 'none')
  const env = { ...world.env, ...receiver.env }
  const boot = () => bootService({ env, dataDir: folder.path, noticeTimes })
  const typesSent = () => receiver.received.map(({ body }) => body.type)

  receiver.answer = () => {}
  const first = await boot()
  const one = { email: 'ada@example.com', sheetTab: 'Very Private' }
  expect((await postSignup(first.url, one)).status).toBe(202)
  await expect.poll(typesSent).toEqual(['delivery.blocked'])
  expect((await postSignup(first.url, { email: 'bob@example.com' })).status).toBe(202)
  await first.stop()
  // Else the stop has waited until the try was over.
  expect(first.output()).not.toContain('a notice could not be sent')
  expect(first.output().match(/notice: /g)).toHaveLength(1)

  receiver.answer = (response) => void response.writeHead(204).end()
  sheet.share(world.email, 'editor')
  await using second = await boot()
  await expect.poll(typesSent).toEqual(['delivery.blocked', 'delivery.blocked', 'delivery.resumed'])
  expect(second.output().match(/notice: /g)).toHaveLength(1)
  const [sent, again, end] = receiver.received
  expect(again).toEqual(sent)
  expect(end?.id).not.toBe(sent?.id)
  expect(sent?.body).toMatchObject({
    data: { site: 'default', reason: 'The caller does not have permission', waiting: 1 },
    text: expect.stringContaining('The caller does not have permission'),
  })
  expect(end?.body.data).toMatchObject({ waiting: 0, oldestWaitingSeconds: 0 })
  for (const { text } of receiver.received) expect(personalWords(text)).toEqual([])
})

test('a notice names the site whose delivery is blocked', async () => {
  await using world = await createGoogleWorld()
  await using receiver = await startWebhookReceiver()
  const sheet = world.emulator.createSpreadsheet()
  const sites = { launch: {}, blog: { spreadsheet: sheet.id } }
  const env = { ...world.env, ...receiver.env, ROLLCALL_CONFIG: JSON.stringify({ sites }) }
  await using _ = await bootService({ env, noticeTimes })
  await expect.poll(() => receiver.received.map(({ body }) => body.data['site'])).toEqual(['blog'])
})

test(
  'of two instances, one tells of an outage, and the one that takes over tells of its end',
  { tags: 'slow' },
  async () => {
    await using server = await startPostgres()
    await using world = await createDatabaseWorld(server)
    await using receiver = await startWebhookReceiver()
    const { emulator, spreadsheetId, email } = world.google
    const sheet = emulator.spreadsheet(spreadsheetId)
    sheet.share(email, 'none')
    const boot = () => bootService({ env: { ...world.env, ...receiver.env }, noticeTimes })
    const told = (type: string) => receiver.received.filter(({ body }) => body.type === type).length

    const first = await boot()
    await expect.poll(first.output).toContain('delivery blocked')
    await using second = await boot()
    expect((await postSignup(second.url, { email: 'ada@example.com' })).status).toBe(202)
    await expect.poll(first.output).toContain('a notice was sent')
    expect(told('delivery.blocked')).toBe(1)
    await first.stop()
    sheet.share(email, 'editor')
    await expect.poll(() => told('delivery.resumed')).toBe(1)
    expect(receiver.received).toHaveLength(2)
    expect(second.output().match(/notice: /g)).toHaveLength(1)
  },
)
