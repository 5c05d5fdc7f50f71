import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { beforeAll, expect, test } from 'vitest'

import { startMailServer } from '../../harness/mail-world.ts'
import { postSignup, postSignups } from '../../harness/post-signup.ts'
import { addressesIn, readTab } from '../../harness/read-workbook.ts'
import { runCommand } from '../../harness/run-command.ts'
import { bootService } from '../../harness/boot-service.ts'
import { tempFolder } from '../../harness/temp-folder.ts'
import { testCertificate } from '../../harness/webhook-receiver.ts'
import type { Status } from '../../src/operations/status.ts'
import { hour, second, systemClock } from '../../src/platform/clock.ts'
import type { SignupAccepted } from '../../src/signup/wire.ts'

beforeAll(() => setDefaultCACertificates([...getCACertificates(), testCertificate]))

const form = { 'content-type': 'application/x-www-form-urlencoded' }

/** The address of the link in a mail, at the service under its own address. */
function linkIn(text: string, url: string): string {
  const [link] = /https:\/\/signup\.rollcall\.example\/\S+/.exec(text) ?? expect.fail('no link')
  return link.replace('https://signup.rollcall.example', url)
}

function press(link: string, decision: string): Promise<Response> {
  return fetch(link, { method: 'POST', headers: form, body: `decision=${decision}` })
}

test('a signup goes from the form by a mail to its row, is greeted, leaves by one click and signs up again', async () => {
  const login = { user: 'rollcall', password: 'p@ss word' }
  await using mailServer = await startMailServer({ tls: 'implicit', login })
  await using data = await tempFolder()
  const texts = {
    ...{ MAIL_SUBJECT: 'One step more', MAIL_TEXT: 'Say that it is you.' },
    ...{ WELCOME_SUBJECT: 'There you are', WELCOME_TEXT: 'The letter comes on Sunday.' },
  }
  const env = { ...mailServer.env, CONFIRMATION: 'mail', WELCOME_MAIL: 'on', ...texts }
  await using service = await bootService({ dataDir: data.path, env })
  const rows = () => readTab(data.path, 'Sheet1.csv').slice(1)
  const mails = async () => (await mailServer.mails()).length

  const answer = await postSignup(service.url, { email: 'ada@example.com', name: 'Ada' })
  const { id, status } = (await answer.json()) as SignupAccepted
  expect([answer.status, status]).toEqual([202, 'pending'])
  await expect.poll(mails).toBe(1)
  const [asked] = await mailServer.mails()
  expect(asked).toMatchObject({
    to: 'ada@example.com',
    sender: 'hello@rollcall.example',
    isEncrypted: true,
    user: 'rollcall',
    subject: texts.MAIL_SUBJECT,
    text: expect.stringContaining(`\n${texts.MAIL_TEXT}\n`),
  })
  expect(asked?.text).not.toContain('Ada')

  const confirm = linkIn(asked?.text ?? '', service.url)
  expect(await (await fetch(confirm)).text()).toContain('<button')
  expect(rows()).toEqual([])
  expect((await press(confirm, 'confirm')).status).toBe(200)
  expect((await press(confirm, 'confirm')).status).toBe(200)
  await expect.poll(rows).toHaveLength(1)
  const state = async () =>
    ((await (await fetch(`${service.url}/api/signup/${id}`)).json()) as SignupAccepted).status
  await expect.poll(state).toBe('written')

  await expect.poll(mails).toBe(2)
  const [, welcome] = await mailServer.mails()
  expect(welcome).toMatchObject({
    subject: texts.WELCOME_SUBJECT,
    text: expect.stringContaining(`\n${texts.WELCOME_TEXT}\n`),
  })
  const leave = linkIn(welcome?.text ?? '', service.url)
  expect(welcome?.raw).toMatch(/^List-Unsubscribe: <https:\/\/\S+\/leave\/\S+>\r$/m)
  await fetch(leave)
  const oneClick = { method: 'POST', headers: form, body: 'List-Unsubscribe=One-Click' }
  expect((await fetch(leave, oneClick)).status).toBe(200)
  await expect.poll(rows).toEqual([])
  await postSignup(service.url, { email: 'ada@example.com' })
  expect(await mails()).toBe(2)
  const log = service.output()
  for (const secret of ['ada@', confirm.slice(-44), leave.slice(-44)])
    expect(log).not.toContain(secret)
})

test('mails above MAIL_PER_HOUR wait for the next hour', async () => {
  await using mailServer = await startMailServer()
  const env = { ...mailServer.env, CONFIRMATION: 'mail', MAIL_PER_HOUR: '1' }
  let aheadMs = 0
  const clock = { ...systemClock, now: () => Date.now() + aheadMs }
  await using service = await bootService({ env, clock })
  await postSignups(service.url, ['ada@example.com', 'bob@example.com', 'cy@example.com'])
  const mails = async () => (await mailServer.mails()).length
  for (const count of [1, 2, 3]) {
    await expect.poll(mails).toBeGreaterThanOrEqual(count)
    aheadMs += hour + second
  }
  // Each says until when its link works, which counts from when it was claimed.
  const ends = (await mailServer.mails()).map(({ text }) => /\d+:\d\d\s[AP]M/.exec(text)?.[0])
  expect(new Set(ends).size).toBe(3)
})

test('import and backfill send no mail, neither to confirm nor to greet', async () => {
  await using mailServer = await startMailServer()
  await using data = await tempFolder()
  const env = { ...mailServer.env, CONFIRMATION: 'mail', WELCOME_MAIL: 'on' }
  const place = { dataDir: data.path, env }
  const list = join(data.path, 'list.csv')
  await writeFile(list, 'Email\nada@example.com\nbob@example.com\n')
  const expectRows = () =>
    expect.poll(() => addressesIn(data.path)).toEqual(['ada@example.com', 'bob@example.com'])
  expect(await runCommand(['import', list], place)).toMatchObject({ code: 0 })
  {
    await using _ = await bootService(place)
    await expectRows()
  }
  await writeFile(join(data.path, 'sheets/Sheet1.csv'), '')
  const backfill = ['backfill', '--all', '--deleted', '--json']
  const { stdout } = await runCommand(backfill, place)
  expect(JSON.parse(stdout)).toMatchObject({ putBack: 2 })
  await using service = await bootService(place)
  await expectRows()
  await postSignup(service.url, { email: 'cy@example.com' })
  const mails = async () => {
    const { stdout } = await runCommand(['status', '--json'], place)
    const { waiting } = (JSON.parse(stdout) as Status).mail
    return { waiting, to: (await mailServer.mails()).map(({ to }) => to) }
  }
  await expect.poll(mails).toEqual({ waiting: 0, to: ['cy@example.com'] })
})
