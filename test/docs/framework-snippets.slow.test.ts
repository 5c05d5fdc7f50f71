// @module-tag slow
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  accessibilityProblems,
  type HostPage,
  openHost,
  startBrowser,
} from '../../harness/browser.ts'
import { type ChallengeWorld, createChallengeWorld } from '../../harness/challenge-world.ts'
import { documentedUrl } from './docs-snippets.ts'
import { bundleComponent, renderAstro } from './framework-bundle.ts'
import { addressesIn } from '../../harness/read-workbook.ts'
import { projectRoot } from '../../harness/source-file.ts'
import { type RunningService, startService } from '../../harness/start-service.ts'

let browser: Browser
let challenge: ChallengeWorld
let service: RunningService

// The challenge is on, because its widget could be left behind, too.
beforeAll(async () => {
  ;[browser, challenge] = await Promise.all([startBrowser(), createChallengeWorld()])
  service = await startService({ env: challenge.env })
})

afterAll(async () => {
  await browser.close()
  await service.stop()
  await challenge[Symbol.asyncDispose]()
})

/** The component to copy, which asks this service. */
function componentIn(language: string): string {
  const path = join(projectRoot, `examples/components/Signup.${language}`)
  return readFileSync(path, 'utf8').replaceAll(documentedUrl, service.url)
}

const rows = (tab: string) => addressesIn(join(service.folder, 'data'), `${tab}.csv`)

async function signUp({ page }: HostPage, email: string): Promise<void> {
  await page.getByLabel('Email address').fill(email)
  expect(await accessibilityProblems(page)).toEqual([])
  await page.getByRole('button', { name: 'Sign up' }).click()
  await page.getByText('Thank you! You are signed up.').waitFor()
}

test.each([
  ['react', 'jsx'],
  ['vue', 'vue'],
  ['svelte', 'svelte'],
] as const)(
  'the component for %s signs somebody up, tells the app, and leaves nothing behind when it is removed',
  async (framework, language) => {
    const code = componentIn(language)
    const script = await bundleComponent(framework, code)
    await using host = await openHost(browser, {
      body: '<div id="app"></div>',
      service: service.url,
    })
    const { page } = host
    await page.addScriptTag({ content: script })
    const elements = page.locator('body *:not(script)')
    for (const email of ['one@example.com', 'two@example.com']) {
      await page.evaluate(mountInPage, framework)
      await signUp(host, email)
      expect(await page.evaluate(() => window.doneTabs)).toEqual([framework])
      await page.evaluate(() => window.unmountSnippet?.())
      await expect.poll(() => elements.count()).toBe(1)
    }
    await expect.poll(() => rows(framework)).toEqual(['one@example.com', 'two@example.com'])
    expect(host.complaints).toEqual([])
  },
)

test('the component for Astro signs somebody up, compiled by Astro but with a small runtime of our own', async () => {
  const code = componentIn('astro')
  const body = await renderAstro(code, { tab: 'astro' })
  await using host = await openHost(browser, { body: `<main>${body}</main>`, service: service.url })
  await signUp(host, 'one@example.com')
  await host.page.locator('main').evaluate((main) => main.remove())
  await expect.poll(() => host.page.locator('body').innerHTML()).toMatch(/^\s*$/)
  await expect.poll(() => rows('astro')).toEqual(['one@example.com'])
  expect(host.complaints).toEqual([])
})

/** Runs in the page: shows the component. */
function mountInPage(tab: string): void {
  const app = document.querySelector('#app')
  window.doneTabs = []
  window.unmountSnippet = window.mountSnippet?.(app, {
    tab,
    onDone: ({ detail }) => window.doneTabs?.push(detail.sheetTab),
  })
}

interface SnippetProps {
  readonly tab: string
  readonly onDone: (event: CustomEvent<{ readonly sheetTab: string }>) => void
}

declare global {
  interface Window {
    mountSnippet?: (box: Element | null, props: SnippetProps) => () => void
    unmountSnippet?: (() => void) | undefined
    doneTabs?: string[]
  }
}
