// @module-tag slow
import { expect, test } from 'vitest'
import { accessibilityProblems } from '../../harness/browser.ts'
import { shareService } from '../../harness/shared-service.ts'
import { documentedUrl, readSnippets } from './docs-snippets.ts'

const shared = shareService()

const snippets = readSnippets('docs/forms.md')
const inHtml = snippets.filter((it) => it.language === 'html' && !it.code.includes('<iframe'))
const policies = snippets.filter(({ code }) => code.startsWith('Content-Security-Policy'))
const thanks = 'Thank you! You are signed up.'

test('the guide has seven snippets in HTML besides the frame, and each of its languages is one that a test runs', () => {
  const languages = new Set(snippets.map(({ language }) => language))
  expect([...languages].sort()).toEqual(['caddy', 'html', 'http', 'json', 'nginx', 'sh'])
  expect(inHtml).toHaveLength(7)
  expect(policies).toHaveLength(1)
})

test.each(inHtml)(
  'the snippet under "$title" signs somebody up, and leaves nothing behind when it is removed',
  async ({ code }) => {
    const body = `<main>${code.replaceAll(documentedUrl, '%s')}</main>`
    await using host = await shared.open({ body })
    const { page } = host
    await page.getByLabel(/^Email/).waitFor()
    const name = page.getByLabel('Name')
    if (await name.isVisible()) await name.fill('Ada')
    const consent = page.getByRole('checkbox')
    if (await consent.isVisible()) await consent.check()
    await page.getByLabel(/^Email/).fill('ada@example.com')
    expect(await accessibilityProblems(page)).toEqual([])
    await page.getByRole('button').click()
    await page.getByText(thanks).waitFor()
    await page.locator('main').evaluate((main) => main.remove())
    await expect.poll(() => page.locator('body').innerHTML()).toMatch(/^\s*$/)
    expect(host.complaints).toEqual([])
  },
)

test.each(policies)('the policy under "$title" allows everything that a form needs', async (it) => {
  const csp = it.code.replace(/^Content-Security-Policy: /, '').trim()
  await using host = await shared.open({
    csp: `default-src 'none'; ${csp.replaceAll(documentedUrl, shared.service.url)}`,
    body: '<script src="%s/embed.js" data-tab="Policy" async></script>',
  })
  const { page } = host
  await page.getByLabel('Email address').fill('ada@example.com')
  await page.getByRole('button', { name: 'Sign up' }).click()
  await page.getByText(thanks).waitFor()
  await expect.poll(() => shared.rows('Policy')).toHaveLength(1)
  expect(host.complaints).toEqual([])
})
