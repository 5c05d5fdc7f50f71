import { join } from 'node:path'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { beforeAll, expect, test } from 'vitest'

import { adminToken, signIn } from '../../harness/admin.ts'
import { bootService } from '../../harness/boot-service.ts'
import { addressesInSheet, createGoogleWorld } from '../../harness/google-world.ts'
import { makeSignup } from '../../harness/make-signup.ts'
import { postSignup } from '../../harness/post-signup.ts'
import { openSqliteJournal } from '../../harness/sqlite-journal.ts'
import { tempFolder } from '../../harness/temp-folder.ts'
import { endpointKeyOf } from '../../src/outbox/webhook/endpoint.ts'
import { startWebhookReceiver, testCertificate } from '../../harness/webhook-receiver.ts'

beforeAll(() => setDefaultCACertificates([...getCACertificates(), testCertificate]))

const env = { ADMIN_TOKEN: adminToken }
/** Far less than the pause before the next try by itself. */
const atOnce = { timeout: 5_000 }

/** What a page says that an action has done. */
async function done(answer: Response): Promise<string | undefined> {
  const page = await answer.text()
  return /role="status"[^>]*>([^<]*)</.exec(page)?.[1]
}

test('a tab that is set aside is tried at once when somebody asks for it', async () => {
  await using world = await createGoogleWorld()
  const sheet = world.emulator.spreadsheet(world.spreadsheetId)
  sheet.addTab('Guarded', [['Email']])
  sheet.protectTab('Guarded')
  await using service = await bootService({ env: { ...world.env, ...env } })
  const { get, post } = await signIn(service.url)
  const page = async () => (await get('/sending')).text()
  await postSignup(service.url, { email: 'kept@example.com', sheetTab: 'Guarded' })
  await expect.poll(page).toContain('Try these tabs now')
  expect(await page()).toContain('You are trying to edit a protected cell')
  // The third try by itself comes ten seconds after the second.
  const tries = () => world.emulator.counters.writes
  const first = tries()
  await expect.poll(tries, { timeout: 60_000 }).toBeGreaterThan(first)
  sheet.unprotectTab('Guarded')
  expect(await done(await post('/sending', { do: 'rows' }))).toMatch(/tried now/)
  await expect.poll(() => addressesInSheet(world, 'Guarded'), atOnce).toEqual(['kept@example.com'])
  await expect.poll(page).not.toContain('Try these tabs now')
  expect(await page()).toMatch(/<dt>Delivery<\/dt>\s*<dd dir="auto">works</)
})

test('a webhook sends at once what is set aside, again what it has sent, and a test', async () => {
  await using receiver = await startWebhookReceiver()
  await using service = await bootService({ env: { ...receiver.webhookEnv, ...env } })
  const { get, post } = await signIn(service.url)
  const act = async (fields: Readonly<Record<string, string>>) =>
    done(await post('/sending', { webhook: '1', ...fields }))
  const told = () => receiver.received.map(({ body }) => body.data['email'])
  const signUp = async (email: string) => {
    const answer = await postSignup(service.url, { email })
    return ((await answer.json()) as { readonly id: string }).id
  }

  receiver.answer = (response) => void response.writeHead(500).end()
  const ada = await signUp('ada@example.com')
  await expect.poll(told).toEqual(['ada@example.com'])
  await expect.poll(async () => (await get('/sending')).text()).toContain('set aside')
  // The third try by itself comes a minute after the second.
  await expect.poll(told, { timeout: 60_000 }).toHaveLength(2)
  const failed = 2
  receiver.answer = (response) => void response.writeHead(204).end()
  expect(await act({ do: 'enable' })).toBe('Webhook 1 is enabled.')
  await expect.poll(() => told().slice(failed), atOnce).toEqual(['ada@example.com'])

  await signUp('bob@example.com')
  await expect.poll(() => told().at(-1)).toBe('bob@example.com')
  const before = receiver.received.length
  expect(await act({ do: 'replay', id: ada.toUpperCase() })).toBe('Webhook 1 gets it again.')
  await expect.poll(() => told().slice(before)).toEqual(['ada@example.com'])
  expect(await act({ do: 'replay', since: '2020-01-31T16:00' })).toMatch(/goes back by 2 positions/)
  await expect.poll(() => told().slice(before + 1)).toEqual(['ada@example.com', 'bob@example.com'])
  expect(await act({ do: 'replay', since: '2199-01-31T16:00' })).toMatch(/nothing since/)
  for (const id of ['nobody', '<b>'])
    expect(await act({ do: 'replay', id })).toMatch(/no message of such a signup/)
  for (const fields of [{}, { since: 'yesterday' }, { id: ' ' }])
    expect(await act({ do: 'replay', ...fields })).toMatch(/^Give the id/)

  expect(await act({ do: 'test' })).toBe('Webhook 1 has taken the test.')
  expect(receiver.received.at(-1)?.body.type).toMatch(/test/)
  receiver.answer = (response) => void response.writeHead(418).end()
  expect(await act({ do: 'test' })).toMatch(/has not taken the test: .*418/)
  for (const webhook of ['2', '0', '', '1x'])
    expect(await act({ do: 'test', webhook })).toBe('There is no such webhook any more.')
})

test('a message that was given up is listed with its reason, and sent again by its button', async () => {
  await using receiver = await startWebhookReceiver()
  await using folder = await tempFolder()
  const { WEBHOOK_URL } = receiver.webhookEnv
  const key = endpointKeyOf(WEBHOOK_URL ?? '')
  const signup = makeSignup({ email: 'ada@example.com' })
  {
    await using journal = openSqliteJournal(join(folder.path, 'journal.db'))
    const { webhooks, intake } = journal
    await webhooks.follow([key], Date.now())
    await intake.append([signup])
    const { position = 0 } = (await intake.find(signup.id)) ?? {}
    const failed = { position, type: 'signup.accepted', tries: 9, at: Date.now() } as const
    const aside = [{ ...failed, nextAt: undefined, reason: 'the receiver answered with 422' }]
    await webhooks.advance(key, { from: position - 1, to: position, aside })
  }
  await using service = await bootService({
    env: { ...receiver.webhookEnv, ...env },
    dataDir: folder.path,
  })
  const { get, post } = await signIn(service.url)
  const page = async () => (await get('/sending')).text()
  const list = /aria-label="Given up by webhook 1".*?<\/table>/s
  const given = list.exec(await page())?.[0] ?? ''
  expect(given).toContain(signup.id)
  expect(given).toContain('try 9')
  expect(given).toContain('the receiver answered with 422')
  const fields = [...given.matchAll(/name="(do|webhook|id)"\s+value="([^"]+)"/g)]
  await post(
    '/sending',
    fields.map(([, name = '', value = '']) => [name, value] as const),
  )
  await expect.poll(() => receiver.received.map(({ body }) => body.data['id'])).toEqual([signup.id])
  await expect.poll(page).not.toMatch(list)
})

test('a test notice is sent, where notices go anywhere', async () => {
  await using receiver = await startWebhookReceiver()
  await using service = await bootService({ env: { ...receiver.env, ...env } })
  const { post } = await signIn(service.url)
  expect(await done(await post('/sending', { do: 'notice' }))).toMatch(/^Notices .*\.$/)
  expect(receiver.received).toHaveLength(1)
  receiver.answer = (response) => void response.writeHead(500).end()
  expect(await done(await post('/sending', { do: 'notice' }))).toContain('500')
  await using silent = await bootService({ env })
  const { get, post: postThere } = await signIn(silent.url)
  expect(await (await get('/sending')).text()).not.toContain('test notice')
  expect(await done(await postThere('/sending', { do: 'notice' }))).toMatch(/no such webhook/)
})
