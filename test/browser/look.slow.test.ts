// @module-tag slow
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { accessibilityProblems } from '../../harness/browser.ts'
import { shareService } from '../../harness/shared-service.ts'
import { accentColors } from '../../src/pages/accent.ts'

const shared = shareService({ env: { ALLOWED_ORIGINS: '*' } })

const tag = (more = '') => `<script src="%s/embed.js" data-tab="Look" ${more}></script>`
const form = async (page: Page) => {
  await page.getByLabel('Email address').waitFor()
  return page.locator('rollcall-form')
}

const outers = {
  'a block': 'display: block',
  'a row that centres it': 'display: flex; justify-content: center',
  'a column that centres it': 'display: flex; flex-direction: column; align-items: center',
  'a grid that centres it': 'display: grid; place-items: center',
}

test.each(Object.entries(outers))('the embed fills %s, up to 28em', async (_, style) => {
  for (const [width, expected] of [
    [1000, 28 * 16],
    [360, 360],
  ] as const) {
    const body = `<div style="${style}">${tag()}</div>`
    const head = '<style>body { margin: 0 }</style>'
    const context = { viewport: { width, height: 400 } }
    await using host = await shared.open({ head, body, context })
    expect((await (await form(host.page)).boundingBox())?.width).toBe(expected)
  }
})

test('the embed keeps its margin inside a narrow place, and has a width where the place has none', async () => {
  const margin = 'rollcall-form { --rollcall-margin: 0 1em }'
  const head = `<style>body { margin: 0 } ${margin} div { float: left }</style>`
  const context = { viewport: { width: 360, height: 800 } }
  await using host = await shared.open({
    head,
    body: `${tag()}<div>${tag('data-name')}</div>`,
    context,
  })
  await host.page.getByLabel('Name').waitFor()
  const widths = await host.page
    .locator('rollcall-form')
    .evaluateAll((all) => all.map((it) => it.getBoundingClientRect().width))
  expect(widths).toEqual([360 - 32, 288])
  expect(await host.page.evaluate(() => document.documentElement.scrollWidth)).toBe(360)
})

test.each([
  ['of the page', 'body { font: 30px Georgia, serif }', 'Georgia, serif'],
  ['of a page in a monospaced font', 'body { font-family: monospace }', 'monospace'],
  ['that --rollcall-font names', 'rollcall-form { --rollcall-font: monospace }', 'monospace'],
])('the embed has the font %s, in its own size', async (_, rule, family) => {
  const head = `<style>${rule}</style>`
  await using host = await shared.open({ head, body: tag('data-text-title="The letter"') })
  await form(host.page)
  for (const part of ['h2', 'label', 'input', 'button']) {
    const { fontFamily, fontSize } = await host.page
      .locator(`rollcall-form ${part}`)
      .first()
      .evaluate((it) => getComputedStyle(it))
    expect([part, fontFamily, fontSize]).toEqual([part, family, part === 'h2' ? '24px' : '16px'])
  }
})

test('on any accent that the page sets, the button has the text that pages give it, also under the pointer', async () => {
  for (const accent of [
    '#ffd000',
    '#0a7a4b',
    '#ff0000',
    '#0000ff',
    '#757575',
    '#7a7a7a',
    'white',
  ]) {
    const head = `<style>rollcall-form { --rollcall-accent: ${accent} }</style>`
    await using host = await shared.open({ head, body: tag() })
    const { page } = host
    const button = page.getByRole('button', { name: 'Sign up' })
    const colorOf = () => button.evaluate((it) => getComputedStyle(it).color)
    const { onAccent } = accentColors(accent === 'white' ? '#ffffff' : accent, 'light')
    const isWhite = onAccent === '#ffffff'
    expect([accent, await colorOf()]).toEqual([
      accent,
      `color(srgb-linear ${isWhite ? '1 1 1' : '0 0 0'})`,
    ])
    await page.getByLabel('Email address').focus()
    await button.hover()
    expect(await accessibilityProblems(page)).toEqual([])
  }
})
