// @module-tag slow
/** A launch lived through in the admin page alone: each test goes on where the one before has ended. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { adminToken } from '../../harness/admin.ts'
import type { OpenPage } from '../../harness/browser.ts'
import { addressesInSheet, createGoogleWorld } from '../../harness/google-world.ts'
import { startMailServer } from '../../harness/mail-world.ts'
import { postSignup } from '../../harness/post-signup.ts'
import { postSuspect } from '../../harness/post-suspect.ts'
import { shareService } from '../../harness/shared-service.ts'

const google = await createGoogleWorld()
const mail = await startMailServer()
// Hooks after all tests run the last first: the service ends before what it uses.
afterAll(async () => {
  await google[Symbol.asyncDispose]()
  await mail[Symbol.asyncDispose]()
})
const sheet = google.emulator.spreadsheet(google.spreadsheetId)
const shared = shareService({
  env: {
    ...{ ...google.env, ...mail.env, ADMIN_TOKEN: adminToken },
    ...{ SPAM_FILTER: 'quarantine', WELCOME_MAIL: 'on' },
  },
})
let opened: OpenPage
let page: Page
beforeAll(async () => {
  opened = await shared.visit('/admin')
  page = opened.page
  await page.getByLabel('token').fill(adminToken)
  await press('Sign in')
})

const grace = 'grace@example.com'
const spam = Array.from({ length: 12 }, (_, at) => `bot-${at}@spam.example.net`)
/** Rows that are removed leave empty ones. */
const inTab = async (tab?: string) =>
  (await addressesInSheet(google, tab)).filter((email) => email !== '')
/** Shorter than any wait before a try that nobody asked for. */
const atOnce = { timeout: 5_000 }

async function press(name: string): Promise<void> {
  await page.getByRole('button', { name, exact: true }).click()
}

/** What a view says, opened by its link. */
async function view(name: string): Promise<string> {
  await page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name }).click()
  await page.getByRole('heading', { level: 1, name }).waitFor()
  return said()
}

async function said(): Promise<string> {
  return (await page.getByRole('main').innerText()).replaceAll(/\s+/g, ' ')
}

async function signUp(email: string, sheetTab?: string): Promise<void> {
  const answer = await postSignup(shared.service.url, {
    email,
    ...(sheetTab !== undefined && { sheetTab }),
  })
  expect(answer.status).toBe(202)
}

async function find(given: string): Promise<void> {
  await view('Signups')
  await page.getByLabel('Address, its beginning, or the end of an id').fill(given)
  await press('Find')
}

async function findPerson(email: string): Promise<string> {
  await find(email)
  await page.getByRole('heading', { level: 1, name: 'Person' }).waitFor()
  return said()
}

test('a wave of spam is seen, and erased by its domain after the page has asked again', async () => {
  for (const email of [...spam, grace]) await postSuspect(shared.service.url, { email })
  const overview = await view('Overview')
  expect(overview).toContain('Held 13 ')
  await page.locator('a[href$="state=held"]').click()
  await page.getByLabel('Only of the domain').fill('spam.example.net')
  await press('Erase all of the list…')
  await page.getByRole('heading', { name: 'Erase what is held?' }).waitFor()
  expect(await said()).toContain('erases 12 held signups of spam.example.net')
  await press('Erase 12 held signups')
  await expect.poll(said).toContain('Erased: 12 signups.')
  expect(await view('Overview')).toContain('Held 1 ')
})

test('a person among the spam is released, and has a row', async () => {
  await view('Signups')
  await page.getByLabel('State').selectOption('held')
  await press('Show')
  await page.getByRole('checkbox', { name: grace }).check()
  await press('Release the chosen ones')
  await expect.poll(said).toContain('Released: 1 signup.')
  await expect.poll(() => inTab()).toEqual([grace])
  expect(await view('Overview')).toContain('Held 0 ')
})

test('while Google is down the page says how many wait and what to do, and later that it works', async () => {
  google.emulator.faults.add({ answer: 'unavailable', times: 0 })
  for (const name of ['ada', 'bob']) await signUp(`${name}@example.com`)
  await expect
    .poll(() => view('Overview'))
    .toContain('Rows are delayed: The service is currently unavailable')
  expect(await said()).toContain('Waiting for their row 2 ')
  sheet.share(google.email, 'none')
  google.emulator.faults.clear()
  await expect.poll(() => view('Overview')).toContain('Share the spreadsheet with')
  expect(await said()).toContain('Rows are blocked: The caller does not have permission')
  expect(await inTab()).toEqual([grace])
  sheet.share(google.email, 'editor')
  // Nobody clicks: the page looks by itself.
  await expect.poll(said).toContain('Delivery works')
  await expect.poll(said).toContain('Waiting for their row 0 ')
  expect(await inTab()).toEqual([grace, 'ada@example.com', 'bob@example.com'])
})

test('a protected tab is set aside, and written at once when it is mended and tried', async () => {
  sheet.addTab('Guarded', [['Email']])
  sheet.protectTab('Guarded')
  await signUp('cy@example.com', 'Guarded')
  await expect.poll(() => view('Sending')).toContain('Set aside Guarded: ')
  expect(await said()).toContain('protected cell or object')
  // The third try by itself comes ten seconds after the second.
  const first = google.emulator.counters.writes
  await expect.poll(() => google.emulator.counters.writes).toBeGreaterThan(first)
  sheet.unprotectTab('Guarded')
  await press('Try these tabs now')
  await expect.poll(said).toContain('The tabs that are set aside are tried now.')
  await expect.poll(() => inTab('Guarded'), atOnce).toEqual(['cy@example.com'])
  await expect.poll(() => view('Sending')).toContain('Delivery works')
  expect(await said()).not.toContain('Set aside')
})

test('a mail server that refuses is named, with how many mails wait', async () => {
  await expect.poll(async () => (await mail.mails()).length).toBe(4)
  await mail.fault({ stage: 'connect', code: 421, times: 0 })
  await signUp('di@example.com')
  await expect.poll(() => view('Sending')).toContain('Mails are not sent: ')
  expect(await said()).toMatch(/Mails are not sent: .*Mails waiting 1/)
  const red = page.locator('.bad', { hasText: 'Mails are not sent' })
  expect(await view('Overview')).toMatch(/^Overview Mails are not sent: The mail server/)
  await red.waitFor()
  await expect.poll(() => inTab()).toContain('di@example.com')
  await mail.clearFaults()
})

test('a person who asks for it is found by the whole address, and erased with the row', async () => {
  expect(await findPerson('ADA@example.com')).toMatch(/ada@example\.com .* state written /i)
  await press('Erase this person…')
  await page.getByRole('heading', { name: 'Erase this person?' }).waitFor()
  expect(await inTab()).toContain('ada@example.com')
  await press('Erase this person')
  await expect.poll(said).toContain('Erased from the journal: 1 signup.')
  expect(await inTab()).toEqual([grace, 'bob@example.com', 'di@example.com'])
  expect(await findPerson('ada@example.com')).toContain('Nothing is kept about this address')
  expect(page.url()).not.toContain('ada')
})

test('people are found by the beginning of their address, which is in no URL', async () => {
  await find('DI@')
  await page.getByText('1 of the latest 10,000 signups begins with “DI@”.').waitFor()
  expect(await said()).toMatch(/di@example\.com .* Sheet1 api written$/)
  await press('di@example.com')
  await page.getByRole('heading', { level: 1, name: 'Person' }).waitFor()
  await find('ad')
  await page.getByText('None of the latest 10,000 signups begins with “ad”.').waitFor()
  expect(page.url()).toMatch(/admin\/person$/)
})

test('the page says when the mail server takes mails again', async () => {
  await expect.poll(() => view('Sending')).toMatch(/Mails go again: |Mail Nothing /)
  expect(await said()).not.toContain('Mails waiting')
  expect((await mail.mails()).map(({ to }) => to)).toContain('di@example.com')
})

test('the log has what was done, and no address of anybody', async () => {
  const actions = [...shared.service.output().matchAll(/"action":"([^"]+)"/g)].map(([, it]) => it)
  expect(actions).toEqual([
    ...['sign-in', 'erase', 'release', 'sending rows', 'person', 'forget'],
    ...['person', 'person', 'person', 'person'],
  ])
  expect(shared.service.output()).not.toMatch(/@(spam\.)?example\.(com|net)/)
  expect(opened.complaints).toEqual([])
})
