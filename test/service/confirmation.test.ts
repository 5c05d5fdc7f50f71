import { expect, test } from 'vitest'

import { startMailServer } from '../../harness/mail-world.ts'
import { postSignup } from '../../harness/post-signup.ts'
import { readTab } from '../../harness/read-workbook.ts'
import { startService } from '../../harness/start-service.ts'
import { tempFolder } from '../../harness/temp-folder.ts'
import type { SignupAccepted } from '../../src/signup/wire.ts'

const form = { 'content-type': 'application/x-www-form-urlencoded' }

/** The address of the link in a mail, at the service under its own address. */
function linkIn(text: string, url: string): string {
  const [link] = /https:\/\/signup\.rollcall\.example\/\S+/.exec(text) ?? expect.fail('no link')
  return link.replace('https://signup.rollcall.example', url)
}

function press(link: string, decision: string): Promise<Response> {
  return fetch(link, { method: 'POST', headers: form, body: `decision=${decision}` })
}

test('a signup goes from the form by a mail to its row, is greeted, leaves by one click and comes back', async () => {
  await using mailServer = await startMailServer()
  await using data = await tempFolder()
  const env = { ...mailServer.env, CONFIRMATION: 'mail', WELCOME_MAIL: 'on' }
  await using service = await startService({ dataDir: data.path, env })
  const rows = () => readTab(data.path, 'Sheet1.csv').slice(1)
  const mails = async () => (await mailServer.mails()).length

  const answer = await postSignup(service.url, { email: 'ada@example.com', name: 'Ada' })
  const { id, status } = (await answer.json()) as SignupAccepted
  expect([answer.status, status]).toEqual([202, 'pending'])
  await expect.poll(mails).toBe(1)
  const [asked] = await mailServer.mails()
  expect(asked).toMatchObject({ to: 'ada@example.com', sender: 'hello@rollcall.example' })
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
  const leave = linkIn(welcome?.text ?? '', service.url)
  expect(leave).toContain('/leave/')
  await fetch(leave)
  const oneClick = { method: 'POST', headers: form, body: 'List-Unsubscribe=One-Click' }
  expect((await fetch(leave, oneClick)).status).toBe(200)
  await expect.poll(rows).toEqual([])
  await postSignup(service.url, { email: 'ada@example.com' })

  expect((await press(leave, 'return')).status).toBe(200)
  await expect.poll(rows).toHaveLength(1)
  expect(await mails()).toBe(2)
  const log = service.output()
  for (const secret of ['ada@', confirm.slice(-44), leave.slice(-44)])
    expect(log).not.toContain(secret)
})

test('with several sites the link of a mail leads to the site of its signup', async () => {
  await using mailServer = await startMailServer()
  const ROLLCALL_CONFIG = JSON.stringify({ sites: { news: {}, shop: { confirmation: 'mail' } } })
  await using service = await startService({ env: { ...mailServer.env, ROLLCALL_CONFIG } })
  const address = { email: 'ada@example.com' }
  const body = new URLSearchParams(address)
  const sent = await fetch(`${service.url}/api/signup?site=shop`, { method: 'POST', body })
  expect(sent.status).toBe(202)
  await expect.poll(async () => (await mailServer.mails()).length).toBe(1)
  const [mail] = await mailServer.mails()
  const link = linkIn(mail?.text ?? '', service.url)
  expect(await (await press(link, 'look')).text()).toContain('value="confirm"')
})
