// @module-tag slow
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { accessibilityProblems } from '../../harness/browser.ts'
import { htmlProblems } from '../../harness/html-problems.ts'
import { shareService } from '../../harness/shared-service.ts'

const page = {
  title: { en: 'The <launch>', ar: 'الإطلاق' },
  button: { en: 'Join', ar: 'انضم' },
  thanks: { en: 'See you.', ar: 'إلى اللقاء.' },
  consent: {
    en: 'I accept the [terms](https://a.example/).',
    ar: 'أقبل [الشروط](https://a.example/).',
  },
}
const fields = [
  {
    name: 'topics',
    type: 'choices',
    required: true,
    label: { en: 'Topics', ar: 'المواضيع' },
    help: { en: 'As many as you like', ar: 'كما تشاء' },
    options: [{ en: 'News', ar: 'أخبار' }, 'Events', { en: 'Jobs <here>', ar: 'وظائف' }],
  },
  {
    name: 'why',
    type: 'textarea',
    label: 'Why?',
    help: 'In <short>',
    placeholder: { en: 'Because "so"', ar: 'لأن' },
    maxLength: 40,
  },
]
const sites = { launch: { fields, page } }
const shared = shareService({ env: { ROLLCALL_CONFIG: JSON.stringify({ sites }) } })

const { visit } = shared

describe.each([
  ['light', 'en', 800],
  ['dark', 'ar', 320],
] as const)('in %s, in the language %s', (colorScheme, language, width) => {
  const look = { viewport: { width, height: 1200 }, colorScheme }
  const words =
    language === 'ar' ? ['المواضيع', 'كما تشاء', 'انضم'] : ['Topics', 'As many as', 'Join']
  const [topics = '', help = '', join = ''] = words

  const expectFields = async (page: Page) => {
    await page.getByRole('button', { name: join }).waitFor()
    const group = page.getByRole('group', { name: topics })
    expect(await group.getAttribute('aria-describedby')).toBe('topics.field-help')
    expect(await page.locator('[id="topics.field-help"]').innerText()).toContain(help)
    expect(await page.locator('[name=topics]').first().getAttribute('value')).toBe('News')
    const placeholder = await page.locator('[name=why]').getAttribute('placeholder')
    expect(placeholder).toBe(language === 'ar' ? 'لأن' : 'Because "so"')
    // A text in one language is the page's own, English.
    expect(await page.getByText('Why?').getAttribute('lang')).toBe('en')
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBe(0)
  }

  test('the embed draws all of it, accessibly, filled in by its options', async () => {
    const options = 'data-field-topics="Events, Jobs &lt;here&gt;" data-field-why="so"'
    const body = `<script src="%s/embed.js?site=launch" data-site="launch" ${options}></script>`
    const colors = colorScheme === 'dark' ? '#111; color: #fff' : '#fff'
    const head = `<style>body { background: ${colors}; margin: 0 }</style>`
    const html = `lang="${language}"`
    await using host = await shared.open({ body, head, html, context: look })
    const { page } = host
    await expectFields(page)
    const ticked = page.locator('[name=topics]:checked')
    expect(await ticked.evaluateAll((all) => all.map((it) => it.getAttribute('value')))).toEqual([
      'Events',
      'Jobs <here>',
    ])
    expect(await page.locator('[name=why]').inputValue()).toBe('so')
    const { resize } = await page.locator('[name=why]').evaluate((area) => getComputedStyle(area))
    expect(resize, 'the styles of declared fields').toBe('vertical')
    expect(await accessibilityProblems(page)).toEqual([])
    expect(host.complaints).toEqual([])
  })
})

test('a group of choices takes a keyboard, and tells of no mistake on the way through it', async () => {
  await using opened = await visit('/?site=launch&language=en')
  const { page } = opened
  await page.locator('[name=topics]').first().focus()
  await page.waitForLoadState('networkidle')
  for (const key of ['Tab', 'Tab']) await page.keyboard.press(key)
  expect(await page.locator('[aria-invalid=true]').count()).toBe(0)
  await page.keyboard.press('Space')
  expect(await page.locator('[name=topics]').last().isChecked()).toBe(true)
  expect(await page.locator('[aria-invalid=true]').count()).toBe(0)
})

test.each(['/', '/api/signup/form', '/?language=ar'])(
  'html-validate finds no problem in %s',
  async (path) => {
    const url = new URL(path, shared.service.url)
    url.searchParams.set('site', 'launch')
    expect(await htmlProblems(await (await fetch(url)).text())).toEqual([])
  },
)
