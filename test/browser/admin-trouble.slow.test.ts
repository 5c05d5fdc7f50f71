// @module-tag slow
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { adminToken } from '../../harness/admin.ts'
import { addressesInSheet, createGoogleWorld } from '../../harness/google-world.ts'
import { startMailServer } from '../../harness/mail-world.ts'
import { postSignup } from '../../harness/post-signup.ts'
import { shareService } from '../../harness/shared-service.ts'

const google = await createGoogleWorld()
const mail = await startMailServer()
// Hooks after all tests run the last first: the service ends before what it uses.
afterAll(async () => {
  await google[Symbol.asyncDispose]()
  await mail[Symbol.asyncDispose]()
})
const shared = shareService({
  env: { ...google.env, ...mail.env, ADMIN_TOKEN: adminToken, WELCOME_MAIL: 'on' },
})
let page: Page
beforeAll(async () => {
  page = (await shared.visit('/admin')).page
  await page.getByLabel('token').fill(adminToken)
  await page.getByRole('button', { name: 'Sign in' }).click()
})

const people = ['ada', 'bob', 'di'].map((name) => `${name}@example.com`)

/** What a view says, opened by its link. */
async function view(name: string): Promise<string> {
  await page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name }).click()
  await page.getByRole('heading', { level: 1, name }).waitFor()
  await page.waitForLoadState()
  return said()
}

async function said(): Promise<string> {
  return (await page.getByRole('main').innerText()).replaceAll(/\s+/g, ' ')
}

async function signUp(email = ''): Promise<void> {
  expect((await postSignup(shared.service.url, { email })).status).toBe(202)
}

test('while Google is down the page says how many wait and what to do, and later that it works', async () => {
  google.emulator.faults.add({ answer: 'unavailable', times: 0 })
  for (const email of people.slice(0, 2)) await signUp(email)
  await expect
    .poll(() => view('Overview'))
    .toContain('Rows are delayed: The service is currently unavailable')
  await expect.poll(said).toContain('Waiting for their row 2 ')
  const sheet = google.emulator.spreadsheet(google.spreadsheetId)
  sheet.share(google.email, 'none')
  google.emulator.faults.clear()
  await expect.poll(() => view('Overview')).toContain('Share the spreadsheet with')
  await expect.poll(said).toContain('Rows are blocked: The caller does not have permission')
  sheet.share(google.email, 'editor')
  // Nobody clicks: the page looks by itself.
  await expect.poll(said).toContain('Delivery works')
  await expect.poll(said).toContain('Waiting for their row 0 ')
  expect(await addressesInSheet(google)).toEqual(people.slice(0, 2))
})

test('a mail server that refuses is named, with how many mails wait, until it takes mails again', async () => {
  const recipients = async () => (await mail.mails()).map(({ to }) => to)
  await expect.poll(recipients).toHaveLength(2)
  await mail.fault({ stage: 'connect', code: 421, times: 0 })
  await signUp(people[2])
  await expect.poll(() => view('Sending')).toMatch(/Mails are not sent: .*Mails waiting 1/)
  await expect.poll(() => view('Overview')).toMatch(/^Overview Mails are not sent: The mail server/)
  await page.locator('.bad', { hasText: 'Mails are not sent' }).waitFor()
  await expect.poll(() => addressesInSheet(google)).toEqual(people)
  await mail.clearFaults()
  await expect.poll(() => view('Sending')).toMatch(/Mails go again: |Mail Nothing /)
  expect(await said()).not.toContain('Mails waiting')
  await expect.poll(recipients).toEqual(people)
})
