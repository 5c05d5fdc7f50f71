// @module-tag slow
import { expect, test } from 'vitest'
import { accessibilityProblems, openHost, startBrowser } from './browser.ts'

test('the check for accessibility finds a field without a label, even in a shadow tree', async () => {
  await using browser = await startBrowser()
  await using host = await openHost(browser, { body: '<div id="host"></div>', service: '' })
  const { page } = host
  await page.evaluate(() => {
    const root = document.querySelector('#host')?.attachShadow({ mode: 'open' })
    root?.append(document.createElement('input'))
  })
  expect(await accessibilityProblems(page)).toEqual([expect.stringMatching(/^label at #host/)])
})
