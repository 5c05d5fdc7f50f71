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

async function findPerson(email: string): Promise<string> {
  await view('Signups')
  await page.getByLabel('Whole address').fill(email)
  await press('Find the person')
  await page.getByRole('heading', { level: 1, name: 'Person' }).waitFor()
  return said()
}

test('a wave of spam is seen, and erased by its domain after the page has asked again', async () => {
  for (const email of [...spam, grace]) await postSuspect(shared.service.url, { email })
  await expect.poll(() => inTab('Quarantine')).toEqual([...spam, grace])
  const overview = await view('Overview')
  expect(overview).toContain('Signs of spam, 7 days hidden-field 13')
  expect(overview).toContain('Looked like spam 13 0 the 7 days before')
  await page.getByRole('link', { name: '13', exact: true }).click()
  await page.getByLabel('Only of the domain').fill('spam.example.net')
  await press('Erase all of the list…')
  await page.getByRole('heading', { name: 'Erase from quarantine?' }).waitFor()
  expect(await said()).toContain('erases 12 signups in quarantine of spam.example.net')
  expect(await inTab('Quarantine')).toHaveLength(13)
  await press('Erase 12 signups')
  await expect.poll(said).toContain('Removed from the quarantine tab: 12 rows.')
  expect(await said()).toContain('Erased: 12 signups.')
  expect(await inTab('Quarantine')).toEqual([grace])
  expect(await view('Overview')).toContain('In quarantine 1 ')
})

test('a person among the spam is released, and has a row', async () => {
  await view('Signups')
  await page.getByLabel('State').selectOption('in quarantine')
  await press('Show')
  await page.getByRole('checkbox', { name: grace }).check()
  await press('Release the chosen ones')
  await expect.poll(said).toContain('Released: 1 signup.')
  await expect.poll(() => inTab()).toEqual([grace])
  await expect.poll(() => inTab('Quarantine')).toEqual([])
  expect(await view('Overview')).not.toContain('In quarantine')
})

test('while Google is down the page says how many wait and what to do, and later that it works', async () => {
  google.emulator.faults.add({ answer: 'unavailable', times: 0 })
  for (const name of ['ada', 'bob']) await signUp(`${name}@example.com`)
  await expect
    .poll(() => view('Overview'))
    .toContain('Delivery delayed: The service is currently unavailable')
  expect(await said()).toMatch(/Waiting 2, the oldest since/)
  sheet.share(google.email, 'none')
  google.emulator.faults.clear()
  await expect.poll(() => view('Overview')).toContain('To do: Share the spreadsheet with')
  expect(await said()).toContain('Delivery blocked: The caller does not have permission')
  expect(await inTab()).toEqual([grace])
  sheet.share(google.email, 'editor')
  // Nobody clicks: the page looks by itself.
  await expect.poll(said).toContain('Delivery works')
  await expect.poll(said).toMatch(/Now Waiting 0 /)
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
  await expect.poll(() => view('Sending')).toContain('Mails are not sent. ')
  expect(await said()).toMatch(/Mails are not sent\. .*Mails waiting 1/)
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

test('the page says when the mail server takes mails again', async () => {
  await expect.poll(() => view('Sending')).toMatch(/Mails go again: |Mail Nothing /)
  expect(await said()).not.toContain('Mails waiting')
  expect((await mail.mails()).map(({ to }) => to)).toContain('di@example.com')
})

test('the log has what was done, and no address of anybody', async () => {
  const actions = [...shared.service.output().matchAll(/"action":"([^"]+)"/g)].map(([, it]) => it)
  expect(actions).toEqual([
    ...['sign-in', 'erase', 'release', 'sending rows', 'person', 'forget', 'person'],
  ])
  expect(shared.service.output()).not.toMatch(/@(spam\.)?example\.(com|net)/)
  expect(opened.complaints).toEqual([])
})
