import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { adminToken } from '../../harness/admin.ts'
import { accessibilityProblems } from '../../harness/browser.ts'
import { shareService } from '../../harness/shared-service.ts'

const { open, visit, rows } = shareService({ env: { ADMIN_TOKEN: adminToken } })

async function signUp(page: Page, address: string): Promise<void> {
  await page.getByLabel('Email address').fill(address)
  expect(await accessibilityProblems(page)).toEqual([])
  await page.getByRole('button', { name: 'Sign up' }).click()
}

test('somebody signs up on the page', async () => {
  await using opened = await visit('/?tab=Page')
  await signUp(opened.page, 'ada@example.com')
  await opened.page.getByRole('heading', { name: 'Thank you' }).waitFor()
  expect(await accessibilityProblems(opened.page)).toEqual([])
  await expect.poll(() => rows('Page').map(([email]) => email)).toEqual(['ada@example.com'])
  expect(opened.complaints).toEqual([])
})

test('somebody signs up in the form of a script tag, on a page of another origin', async () => {
  await using host = await open({ body: '<script src="%s/embed.js" data-tab="Tag"></script>' })
  await signUp(host.page, 'bob@example.com')
  await host.page.getByText('Thank you! You are signed up.').waitFor()
  expect(await accessibilityProblems(host.page)).toEqual([])
  const cells = () => rows('Tag').map(([email, , source]) => [email, source])
  await expect.poll(cells).toEqual([['bob@example.com', 'embed']])
  expect(host.complaints).toEqual([])
})

test('the owner signs in to the admin page, and finds a person there, with times in the zone of the browser', async () => {
  await using host = await open({ body: '<script src="%s/embed.js" data-tab="Seen"></script>' })
  await signUp(host.page, 'cy@example.com')
  await expect.poll(() => rows('Seen')).toHaveLength(1)
  await using opened = await visit('/admin', { timezoneId: 'Australia/Adelaide' })
  const { page } = opened
  await page.getByLabel('token').fill(adminToken)
  await page.getByRole('button', { name: 'Sign in' }).click()
  const views = page.getByRole('navigation', { name: 'Views' })
  await views.getByRole('link', { name: 'Signups' }).click()
  await page.getByText('cy@example.com').waitFor()
  await page.getByText('Times are in Australia/Adelaide, axes and days in UTC.').waitFor()
  const time = page.locator('time').first()
  const told = /(\d+):(\d+)/.exec((await time.textContent()) ?? '')
  const at = /T(\d+):(\d+)/.exec((await time.getAttribute('datetime')) ?? '')
  // Half an hour from UTC, in winter and in summer.
  expect(Math.abs(Number(told?.[2]) - Number(at?.[2]))).toBe(30)
  expect(await time.getAttribute('title')).toContain(`${at?.[1]}:${at?.[2]} UTC`)
  expect(await accessibilityProblems(page)).toEqual([])
  expect(opened.complaints).toEqual([])
})
