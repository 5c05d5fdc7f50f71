import { basename, join } from 'node:path'
import type { Browser } from 'playwright-core'
import ts from 'typescript'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  accessibilityProblems,
  type HostPage,
  openHost,
  startBrowser,
} from '../../harness/browser.ts'
import { type ChallengeWorld, createChallengeWorld } from '../../harness/challenge-world.ts'
import { documentedUrl, readSnippets } from './docs-snippets.ts'
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

/** The only snippet of the guide in this language. */
function snippet(language: string): string {
  const found = readSnippets('docs/embed.md').filter((it) => it.language === language)
  expect(found).toHaveLength(1)
  return found[0]?.code ?? ''
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
    const code = snippet(language).replaceAll(documentedUrl, service.url)
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
  const code = snippet('astro').replaceAll(documentedUrl, service.url)
  const body = await renderAstro(code, { tab: 'astro' })
  await using host = await openHost(browser, { body: `<main>${body}</main>`, service: service.url })
  await signUp(host, 'one@example.com')
  await host.page.locator('main').evaluate((main) => main.remove())
  await expect.poll(() => host.page.locator('body').innerHTML()).toMatch(/^\s*$/)
  await expect.poll(() => rows('astro')).toEqual(['one@example.com'])
  expect(host.complaints).toEqual([])
})

test('the types for React accept the component and every option, and find wrong ones', () => {
  const use = (element: string) => `export const used = ${element}`
  const errors = typeErrors({
    'rollcall-form.d.ts': snippet('ts'),
    'signup.jsx': snippet('jsx'),
    'full.tsx':
      use(`<rollcall-form tab="A" source="b" tags="c, d" name="required" text-submit="Join"
      field-plan="pro" language="de" theme="dark" redirect="/" utm className="wide"
      onrollcall:success={({ detail }) => detail.id.trim()}
      onrollcall:error={({ detail }) => detail.reason.trim()} />`),
    'number.tsx': use('<rollcall-form tab={1} />'),
    'slip.tsx': use('<rollcall-form tabs="A" />'),
  })
  expect(errors).toEqual([
    expect.stringMatching(/^number.tsx: Type 'number' is not assignable/),
    expect.stringMatching(/^slip.tsx: [^]*'tabs' does not exist/),
  ])
})

/** The errors of the TypeScript compiler for files that are only in memory. */
function typeErrors(files: Readonly<Record<string, string>>): string[] {
  const texts = new Map(
    Object.entries(files).map(([name, text]) => [join(projectRoot, 'test', name), text]),
  )
  const options: ts.CompilerOptions = {
    strict: true,
    noImplicitAny: false,
    checkJs: true,
    noEmit: true,
    skipLibCheck: true,
    jsx: ts.JsxEmit.ReactJSX,
    module: ts.ModuleKind.NodeNext,
    target: ts.ScriptTarget.ESNext,
    types: [],
  }
  const host = ts.createCompilerHost(options)
  const { getSourceFile, fileExists, readFile } = host
  host.fileExists = (path) => texts.has(path) || fileExists(path)
  host.readFile = (path) => texts.get(path) ?? readFile(path)
  host.getSourceFile = (path, target, ...rest) => {
    const text = texts.get(path)
    return text === undefined
      ? getSourceFile(path, target, ...rest)
      : ts.createSourceFile(path, text, target)
  }
  const found = ts.getPreEmitDiagnostics(ts.createProgram([...texts.keys()], options, host))
  return found.map(({ file, messageText }) => {
    const message = ts.flattenDiagnosticMessageText(messageText, '\n')
    return `${basename(file?.fileName ?? '')}: ${message}`
  })
}

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
