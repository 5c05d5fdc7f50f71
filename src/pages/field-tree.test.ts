import { expect, test } from 'vitest'
import { visitorsView } from '../../harness/page-options.ts'
import type { FormEntries } from '../http/exchange.ts'
import type { Field } from '../signup/field.ts'
import { languages } from '../signup/languages.ts'
import { limits } from '../signup/limits.ts'
import { messageOf } from './field-messages.ts'
import { refuse } from '../http/refuse.ts'
import { formPage } from './form-page.ts'
import { refusalPage } from './refusal.ts'
import { typedForm } from './typed-form.ts'
import { pageTexts } from './texts.ts'

const fields: readonly Field[] = [
  { name: 'company', label: 'Company & Co', type: 'text', required: true, maxLength: 80 },
  { name: 'plan', type: 'choice', options: ['free', '"pro"'], required: true },
  { name: 'team', type: 'choice', options: ['1', '2', '3', '4', '5'], required: false },
  { name: 'topics', type: 'choices', options: ['news', '"talks"'], required: true, help: 'Any' },
  { name: 'seats', type: 'number', min: 1, max: 500, required: false },
  { name: 'home', type: 'url', required: false },
  { name: 'start', type: 'date', required: false },
  { name: 'phone', type: 'phone', required: false },
  {
    name: 'news',
    label: 'Send me news',
    type: 'checkbox',
    required: false,
    help: 'Once <a month>',
  },
  {
    name: 'why',
    type: 'textarea',
    required: false,
    maxLength: 9,
    placeholder: 'Say "why"',
    help: 'In short',
  },
  { name: 'utm_source', type: 'text', required: false, maxLength: 100 },
]

const flat = (page: string) => page.replace(/\s+/g, ' ')
const view = (path: string, acceptLanguage = '') => visitorsView(path, { fields, acceptLanguage })
const drawn = async (entries: FormEntries = [], query = '') => {
  const asked = view(`/?page=hosted${query}`)
  return flat(await formPage(asked, { typed: typedForm(entries, asked), next: '/next' }))
}
const refused = async (typed: FormEntries, wrong: readonly string[], path: string, lang = '') => {
  const errors = wrong.map((field) => ({ field, message: `${field} is wrong.` }))
  const told = { refusal: refuse.fields(errors), requestId: '', next: '/next' }
  return flat(await refusalPage(view(path, lang), { ...told, typed }))
}

test.each([
  [
    'a text',
    '<label for="company.field"><bdi lang="en">Company &amp; Co</bdi></label><input id="company.field" name="company" type="text" maxlength="80" autocomplete="organization" required="">',
  ],
  ['few options', '<fieldset class="field" id="plan.field" role="radiogroup" aria-required="true"'],
  ['many options', '<select id="team.field" name="team">'],
  ['a list before the choice', '<option value="">Please choose</option>'],
  [
    'several choices',
    '<fieldset class="field" id="topics.field" data-several="required" aria-describedby="topics.field-help">',
  ],
  [
    'one of several choices',
    '<input id="topics.field.1" name="topics" type="checkbox" value="&quot;talks&quot;">',
  ],
  ['a number', 'type="number" step="any" inputmode="decimal" dir="ltr" min="1" max="500"'],
  ['an address', 'type="url" inputmode="url" autocomplete="url"'],
  ['a date', '<input id="start.field" name="start" type="date">'],
  ['a phone number', 'type="tel" inputmode="tel" autocomplete="tel" dir="ltr"'],
  [
    'a box',
    '<input id="news.field" name="news" type="checkbox" value="true" aria-describedby="news.field-help">',
  ],
  [
    'a text of several lines',
    '<textarea id="why.field" name="why" rows="4" maxlength="9" placeholder="Say &quot;why&quot;" aria-describedby="why.field-help"></textarea>',
  ],
  [
    'help below a box',
    '<small id="news.field-help"><bdi lang="en">Once &lt;a month&gt;</bdi></small>',
  ],
  ['a word at what may stay empty', 'home</bdi> <small>(optional)</small>'],
])('the page draws %s', async (_, expected) => {
  expect(await drawn()).toContain(expected)
})

test('the address and the name take as many characters as a signup may have', async () => {
  const page = await drawn([], '&name')
  expect(page).toMatch(new RegExp(`name="email" [^>]*maxlength="${limits.emailCharactersMax}"`))
  expect(page).toMatch(new RegExp(`name="name" [^>]*maxlength="${limits.nameCharactersMax}"`))
})

test('a field that fills itself is hidden, and absent when it has nothing', async () => {
  expect(await drawn()).not.toContain('utm_source')
  expect(await drawn([['utm_source', 'mail']])).toContain(
    '<input type="hidden" name="utm_source" value="mail">',
  )
})

test('after an error, every field has its value and its problem beside it', async () => {
  const typed = [
    ['email', 'ada@example.com'],
    ['company', ''],
    ['plan', '"pro"'],
    ['team', '3'],
    ['topics', 'news'],
    ['topics', '"talks"'],
    ['seats', 'many'],
    ['start', '2026-13-40'],
    ['news', 'true'],
    ['why', '</textarea>\n<b>'],
  ] as const
  const page = await refused(typed, ['company', 'plan', 'seats', 'why'], '/?page=hosted')
  expect(page.match(/name="topics" [^>]*checked/g)).toHaveLength(2)
  // The problem comes before the help.
  expect(page).toContain('aria-describedby="why.field-problem why.field-help"')
  for (const name of ['company', 'plan', 'seats']) {
    expect(page).toContain(`<p class="problem" id="${name}.field-problem">${name} is wrong.</p>`)
    expect(page).toContain(`aria-invalid="true" aria-describedby="${name}.field-problem"`)
  }
  expect(page.match(/aria-invalid/g)).toHaveLength(4)
  expect(page.match(/autofocus/g)).toHaveLength(1)
  expect(page).toMatch(/value="&quot;pro&quot;" required="" checked/)
  expect(page).toMatch(/<option value="3" selected="" /)
  // A field for numbers would show nothing.
  expect(page).toContain('name="seats" type="text"')
  expect(page).toMatch(/name="news" [^>]*checked/)
  expect(page).toContain('>&lt;/textarea&gt; &lt;b&gt;</textarea>')
})

test('the first wrong field gets the focus, even when it is a group of radio buttons', async () => {
  const page = await refused([], ['plan', 'seats'], '/?page=hosted')
  expect(page).toMatch(/<input id="plan\.field\.0" [^>]* autofocus/)
  expect(page.match(/autofocus/g)).toHaveLength(1)
})

test('a form of somebody else keeps its own fields, and gets those that it must have', async () => {
  const page = await refused([['home', 'nowhere']], ['company', 'home'], '/api/signup')
  const names = [...page.matchAll(/<(?:input|select)[^>]* name="([^"]*)"/g)].map(([, name]) => name)
  expect(names).toEqual(['email', 'company', 'plan', 'plan', 'topics', 'topics', 'home'])
})

test('a form in another language says in it what is wrong', async () => {
  const page = await refused([['seats', '900']], ['company', 'seats'], '/?page=hosted', 'de')
  expect(page).toContain('Bitte füllen Sie dieses Feld aus.')
  expect(page).toContain('die nicht größer als 500 ist.')
  expect(page).not.toContain('is wrong.')
})

const texts = pageTexts.en.fields
test.each<[Field['type'], value: string, message: string]>([
  ['text', '', texts.valueMissing],
  ['text', 'x'.repeat(81), 'Please shorten this to 80 characters.'],
  ['choice', '', texts.choiceMissing],
  ['choice', 'basic', texts.choiceMissing],
  ['number', '0', 'Please enter a number that is not below 1.'],
  ['number', '501', 'Please enter a number that is not above 500.'],
  ['number', 'many', texts.numberWrong],
  ['url', 'home', texts.urlWrong],
  ['date', 'today', texts.dateWrong],
  ['phone', 'none', texts.phoneWrong],
  ['checkbox', '', texts.consentMissing],
])('a %s with the value "%s" has its own message', (type, value, message) => {
  const field = fields.find((it) => it.type === type)
  expect(field && messageOf(field, value, texts)).toBe(message)
})

test.each(languages)('in %s the limits stand in the messages', (language) => {
  const { textTooLong, numberTooLow, numberTooHigh } = pageTexts[language].fields
  for (const text of [textTooLong, numberTooLow, numberTooHigh]) expect(text).toContain('*')
})
