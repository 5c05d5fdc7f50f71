// @module-tag slow
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { languages } from '../../src/signup/languages.ts'
import { accessibilityProblems } from '../../harness/browser.ts'
import { readTab } from '../../harness/read-workbook.ts'
import { shareService } from '../../harness/shared-service.ts'

const fields = [
  { name: 'company' },
  { name: 'street' },
  { name: 'city' },
  { name: 'phone', type: 'phone' },
  { name: 'message', type: 'textarea' },
]
const shared = shareService({
  env: {
    ROLLCALL_CONFIG: JSON.stringify({ sites: { launch: { fields } } }),
    PAGE_NAME: 'optional',
  },
})

const { open, visit } = shared

const hiddenField = 'rollcall_message'
const embed = (more = '') =>
  `<script src="%s/embed.js?site=launch" data-tab="Unseen" ${more} async></script>`
const thanks = 'Thank you! You are signed up.'

/** The three forms of ours, each opened by its own way. */
const forms = [
  ['the hosted page', () => visit('/?site=launch')],
  ['the bare form', () => visit('/api/signup/form?site=launch&name')],
  ['the embed', () => open({ body: embed() })],
] as const

/** What people type into, by name, in the order of the Tab key. */
const seen = ['email', 'name', ...fields.map(({ name }) => name), '']

test.each(forms)(
  'in %s no key, no screen reader and no eye finds the field that only programs fill in',
  async (_, opened) => {
    await using it = await opened()
    const { page } = it
    await page.locator('input[name=email]').focus()
    const reached: (string | null)[] = []
    for (const _ of seen) {
      reached.push(await focusedName(page))
      await page.keyboard.press('Tab')
    }
    expect(reached).toEqual(seen)
    expect(await page.getByRole('textbox').count()).toBe(seen.length - 1)
    expect(await page.locator('body').ariaSnapshot()).not.toContain('Leave this field')
    const field = page.locator(`[name=${hiddenField}]`)
    expect(await field.isVisible()).toBe(false)
    expect(await page.getByText('Leave this field empty').isVisible()).toBe(false)
    expect(await accessibilityProblems(page)).toEqual([])
    // A person who sees the page without styles reads what the field is for.
    expect(await field.evaluate((it) => it.parentElement?.textContent)).toBe(
      'Leave this field empty',
    )
  },
)

/** An address as Chromium keeps it. */
const address = {
  fields: [
    { name: 'NAME_FULL', value: 'Ada Lovelace' },
    { name: 'EMAIL_ADDRESS', value: 'ada@example.com' },
    { name: 'COMPANY_NAME', value: 'Engines Ltd' },
    { name: 'ADDRESS_HOME_STREET_ADDRESS', value: '12 Rose Street' },
    { name: 'ADDRESS_HOME_CITY', value: 'London' },
    { name: 'ADDRESS_HOME_ZIP', value: 'N1 9GU' },
    { name: 'ADDRESS_HOME_COUNTRY', value: 'GB' },
    { name: 'PHONE_HOME_WHOLE_NUMBER', value: '+442079460000' },
  ],
}

test('the autofill of Chromium fills in every form of ours in every language, but never the hidden field', async () => {
  for (const language of languages) {
    await using page = await visit(`/?site=launch&language=${language}`)
    expect(await autofilled(page.page), language).toEqual(filled)
    await using host = await open({ body: embed(`data-language="${language}"`) })
    expect(await autofilled(host.page), language).toEqual(filled)
  }
})

/** What Chromium fills in: what has a name for it, and what it guesses by names and labels. */
const filled = {
  email: 'ada@example.com',
  name: 'Ada Lovelace',
  company: 'Engines Ltd',
  street: '12 Rose Street',
  city: 'London',
  phone: '+442079460000',
}

test('the hidden field is sent empty by a browser without JavaScript, and leaves no trace in the row', async () => {
  await using opened = await visit('/?site=launch&tab=Plain', { javaScriptEnabled: false })
  const { page } = opened
  const sent = page.waitForRequest((request) => request.method() === 'POST')
  await page.getByLabel('Email address').fill('ada@example.com')
  await page.getByRole('button', { name: 'Sign up' }).click()
  expect(new URLSearchParams((await sent).postData() ?? '').get(hiddenField)).toBe('')
  await page.getByRole('heading', { name: 'Thank you' }).waitFor()
  const data = join(shared.service.folder, 'data')
  const metadata = () => readTab(data, 'launch/Plain.csv').map((row) => row[5])
  await expect.poll(metadata).toEqual(['Metadata', ''])
})

test('the embed sends the hidden field, also when a program has filled it in', async () => {
  await using host = await open({ body: embed() })
  const { page } = host
  const sent = page.waitForRequest((request) => request.method() === 'POST')
  await page.getByLabel('Email address').fill('ada@example.com')
  await page.locator(`[name=${hiddenField}]`).evaluate((it) => {
    ;(it as HTMLTextAreaElement).value = 'Buy now'
  })
  await page.getByRole('button', { name: 'Sign up' }).click()
  expect(new URLSearchParams((await sent).postData() ?? '').get(hiddenField)).toBe('Buy now')
  await page.getByText(thanks).waitFor()
})

test("a form of the page's own gets no hidden field", async () => {
  const body = `<form id="own"><input name="email" aria-label="Email address"><button>Sign up</button></form>
    <script src="%s/embed.js"></script><script>Rollcall.enhance(document.querySelector('#own'))</script>`
  await using host = await open({ body })
  await host.page.getByLabel('Email address').fill('ada@example.com')
  expect(await host.page.locator(`[name=${hiddenField}]`).count()).toBe(0)
})

/** The name of the control that has the focus, also inside a shadow tree. */
function focusedName(page: Page): Promise<string | null> {
  return page.evaluate(() => {
    const { activeElement } = document
    return (activeElement?.shadowRoot?.activeElement ?? activeElement)?.getAttribute('name') ?? ''
  })
}

/** Lets Chromium fill in the form with an address, as if its user had chosen it. The values by name. */
async function autofilled(page: Page): Promise<Record<string, string>> {
  const email = page.locator('input[name=email]')
  await email.focus()
  const session = await page.context().newCDPSession(page)
  await session.send('Autofill.enable')
  await session.send('DOM.enable')
  const { result } = await session.send('Runtime.evaluate', {
    expression: `(document.querySelector('rollcall-form')?.shadowRoot ?? document).querySelector('[name=email]')`,
  })
  const { node } = await session.send('DOM.describeNode', { objectId: result.objectId ?? '' })
  const { backendNodeId: fieldId } = node
  const values = () =>
    email.evaluate((it) => {
      const controls = [...((it as HTMLInputElement).form?.elements ?? [])] as HTMLInputElement[]
      const typed = controls.filter(({ type, value }) => type !== 'hidden' && value)
      return Object.fromEntries(typed.map(({ name, value }) => [name, value]))
    })
  // Chromium learns of a form some time after it was drawn.
  await expect
    .poll(async () => {
      await session.send('Autofill.trigger', { fieldId, address }).catch(() => undefined)
      return values()
    })
    .toMatchObject(filled)
  return values()
}
