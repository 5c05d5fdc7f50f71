import { join } from 'node:path'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest'

import { adminToken, type Operator, signIn, workEnded } from '../../harness/admin.ts'
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
async function done(operator: Operator, answer: Response): Promise<string | undefined> {
  // Leads to another page, so that a reload does not do it again.
  const page = answer.status === 303 ? await workEnded(operator, answer) : await answer.text()
  return /role="(?:status|alert)"[^>]*>(?:\s*<p>)?([^<]*)</.exec(page)?.[1]
}

test(
  'a tab that is set aside is tried at once when somebody asks for it',
  { tags: 'slow' },
  async () => {
    await using world = await createGoogleWorld()
    const sheet = world.emulator.spreadsheet(world.spreadsheetId)
    sheet.addTab('Guarded', [['Email']])
    sheet.protectTab('Guarded')
    await using service = await bootService({ env: { ...world.env, ...env } })
    const operator = await signIn(service.url)
    const { get, post } = operator
    const page = async () => (await get('/sending')).text()
    await postSignup(service.url, { email: 'kept@example.com', sheetTab: 'Guarded' })
    await expect.poll(page).toContain('Try these tabs now')
    expect(await page()).toContain('You are trying to edit a protected cell')
    // The fourth try by itself comes twenty seconds after the third.
    const tries = () =>
      world.emulator.log.calls('batchUpdate').filter(({ status }) => status !== 200).length
    await expect.poll(tries).toBeGreaterThanOrEqual(3)
    sheet.unprotectTab('Guarded')
    expect(await done(operator, await post('/sending', { do: 'rows' }))).toMatch(/tried now/)
    await expect
      .poll(() => addressesInSheet(world, 'Guarded'), atOnce)
      .toEqual(['kept@example.com'])
    await expect.poll(page).not.toContain('Try these tabs now')
    expect(await page()).toMatch(/<dt>Delivery<\/dt>\s*<dd dir="auto">works</)
  },
)

test(
  'a webhook sends at once what waits, again what it has sent, and a test',
  { tags: 'slow' },
  async () => {
    await using receiver = await startWebhookReceiver()
    await using service = await bootService({ env: { ...receiver.webhookEnv, ...env } })
    const operator = await signIn(service.url)
    const { get, post } = operator
    const act = async (fields: Readonly<Record<string, string>>) =>
      done(operator, await post('/sending', { webhook: '1', ...fields }))
    const told = () => receiver.received.map(({ body }) => body.data['email'])
    const signUp = async (email: string) => {
      const answer = await postSignup(service.url, { email })
      return ((await answer.json()) as { readonly id: string }).id
    }

    receiver.answer = (response) => void response.writeHead(500).end()
    const ada = await signUp('ada@example.com')
    await expect.poll(told).toEqual(['ada@example.com'])
    await expect.poll(async () => (await get('/sending')).text()).toContain('1 waiting')
    // The third try by itself comes a minute after the second.
    await expect.poll(told, { timeout: 60_000 }).toHaveLength(2)
    const failed = 2
    receiver.answer = (response) => void response.writeHead(204).end()
    expect(await act({ do: 'enable' })).toBe('Webhook 1 sends what waits now.')
    await expect.poll(() => told().slice(failed), atOnce).toEqual(['ada@example.com'])

    await signUp('bob@example.com')
    await expect.poll(() => told().at(-1)).toBe('bob@example.com')
    const before = receiver.received.length
    expect(await act({ do: 'replay', id: ada.toUpperCase() })).toBe('Webhook 1 gets it again.')
    await expect.poll(() => told().slice(before)).toEqual(['ada@example.com'])
    expect(await act({ do: 'replay', since: '2020-01-31T16:00' })).toMatch(
      /goes back by 2 positions/,
    )
    await expect
      .poll(() =>
        told()
          .slice(before + 1)
          .toSorted(),
      )
      .toEqual(['ada@example.com', 'bob@example.com'])
    // Times are in UTC, wherever the service runs.
    vi.stubEnv('TZ', 'Pacific/Kiritimati')
    onTestFinished(() => void vi.unstubAllEnvs())
    const soon = new Date(Date.now() + 3_600_000).toISOString().slice(0, 16)
    expect(await act({ do: 'replay', since: soon })).toMatch(/nothing since/)
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
  },
)

test('a message that has failed is listed with its reason, and sent again by its button, as all are since a time', async () => {
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
    const kinds = { kind: 'failed', type: 'signup.accepted', nextAt: undefined } as const
    const reason = 'the receiver answered with 422'
    const failed = { ...kinds, position, tries: 5, at: Date.now(), reason }
    await webhooks.settle(key, { from: position - 1, to: position, outcomes: [failed] })
  }
  await using service = await bootService({
    env: { ...receiver.webhookEnv, ...env },
    dataDir: folder.path,
  })
  const operator = await signIn(service.url)
  const { get, post } = operator
  const page = async () => (await get('/sending')).text()
  const list = /aria-label="Failed at webhook 1".*?<\/table>/s
  const given = list.exec(await page())?.[0] ?? ''
  expect(given).toContain(signup.id)
  expect(given).toContain('try 5')
  expect(given).toContain('the receiver answered with 422')
  const fields = [...given.matchAll(/name="(do|webhook|id)"\s+value="([^"]+)"/g)]
  await post(
    '/sending',
    fields.map(([, name = '', value = '']) => [name, value] as const),
  )
  await expect.poll(() => receiver.received.map(({ body }) => body.data['id'])).toEqual([signup.id])
  await expect.poll(page).not.toMatch(list)
  const since = { do: 'replay', webhook: '1', since: '2020-01-31T16:00' }
  expect(await done(operator, await post('/sending', since))).toMatch(/goes back by 1 position/)
})

test('a test notice is sent, where notices go anywhere', async () => {
  await using receiver = await startWebhookReceiver()
  await using service = await bootService({ env: { ...receiver.env, ...env } })
  const operator = await signIn(service.url)
  const notice = async () => done(operator, await operator.post('/sending', { do: 'notice' }))
  expect(await notice()).toMatch(/^Notices .*\.$/)
  expect(receiver.received).toHaveLength(1)
  receiver.answer = (response) => void response.writeHead(500).end()
  expect(await notice()).toContain('500')
  await using silent = await bootService({ env })
  const there = await signIn(silent.url)
  expect(await (await there.get('/sending')).text()).not.toContain('test notice')
  expect(await done(there, await there.post('/sending', { do: 'notice' }))).toMatch(
    /no such webhook/,
  )
})
