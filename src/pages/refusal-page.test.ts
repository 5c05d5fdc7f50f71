import fc from 'fast-check'
import { expect, test } from 'vitest'
import { visitorsView } from '../../harness/page-options.ts'
import type { FormEntries } from '../http/exchange.ts'
import { Refusal, type RefusalKind } from '../http/problem.ts'
import type { ProblemField } from '../signup/wire.ts'
import { refusalPage } from './refusal.ts'
import type { View } from './view.ts'

const requestId = '00000000-0000-4000-8000-000000000000'

interface Refused {
  readonly kind: RefusalKind
  readonly typed?: FormEntries
  readonly errors?: readonly ProblemField[]
}

/** Of a form of somebody else's, unless the view says otherwise. */
function refusal(
  { kind, typed, errors = [] }: Refused,
  view: View = visitorsView('/api/signup'),
): Promise<string> {
  const refusal = new Refusal(kind, '', { errors })
  return refusalPage(view, { refusal, typed, requestId, next: '/next' })
}

/** Values of the attribute in the page, in order, as a browser reads them. */
function attributes(page: string, name: string): string[] {
  return [...page.matchAll(new RegExp(`\\s${name}="([^"]*)"`, 'g'))].map(([, raw = '']) =>
    raw
      .replaceAll('&lt;', '<')
      .replaceAll('&gt;', '>')
      .replaceAll('&quot;', '"')
      .replaceAll('&#39;', "'")
      .replaceAll('&amp;', '&'),
  )
}

test('an error of a hidden field is shown on top, which gets the focus', async () => {
  const page = await refusal({
    kind: 'fields',
    typed: [['email', 'ada@example.com']],
    errors: [
      { field: 'sheetTab', message: 'No such tab.' },
      { field: 'name', message: 'Not shown either.' },
      { field: '', message: 'As a whole.' },
    ],
  })
  expect(page).toMatch(/role="alert" tabindex="-1" autofocus/)
  expect(page).toContain('<li><b>sheetTab</b></li>')
  expect(page).toContain('<li><b>name</b>: Not shown either.</li>')
  // These are words for the page's author.
  expect(page).not.toMatch(/No such tab|As a whole/)
  expect(page).not.toContain('aria-invalid')
})

test('a visitor is told in English, too, to tick a box, and not what a program has to send', async () => {
  const news = { name: 'news', type: 'checkbox', required: true } as const
  const errors = [{ field: 'news', message: 'news is needed: tick it, or send true.' }]
  const view = { ...visitorsView('/api/signup'), fields: [news] }
  const page = await refusal(
    { kind: 'fields', typed: [['email', 'ada@example.com']], errors },
    view,
  )
  expect(page).toContain('Please tick this box to sign up.')
  expect(page).not.toContain('send true')
})

test.each([
  ['a foreign page', 'origin', false],
  ['a refused challenge', 'challenge', true],
  ['too many signups', 'tooMany', true],
  ['a full disk', 'journalUnavailable', true],
  ['a defect', 'unexpected', true],
] as const)('whether %s (%s) brings the form back', async (_, kind, bringsForm) => {
  const typed = [['email', 'ada@example.com']] as const
  const page = await refusal({ kind, typed })
  expect(page.includes('<form')).toBe(bringsForm)
  expect(page.includes('ada@example.com')).toBe(bringsForm)
})

test.each([
  ['more fields than any form has', Array.from({ length: 1_001 }, () => ['a', ''] as const)],
])('a form with %s is not sent back', async (_, typed) => {
  expect(await refusal({ kind: 'fields', typed })).not.toContain('<form')
})

test('no value, name or message can add markup, and each can be read back', async () => {
  const hostile = fc.oneof(
    fc.constantFrom(
      '"><script>alert(1)</script>',
      "' autofocus onfocus='alert(1)",
      '</title><svg onload=alert(1)>',
      '<!--',
      ']]>',
      '&quot;&lt;&#39;',
      '${1+1}{{1+1}}',
      '\0\u202e\u2028`',
      '[object Object]',
    ),
    fc.string({ unit: 'binary' }),
  )
  const other = hostile.filter((field) => !/^(email|name)$/.test(field))
  const fields = fc.array(fc.tuple(other, hostile), { maxLength: 5 })
  const errors = fc.array(fc.record({ field: hostile, message: hostile }), { maxLength: 3 })
  await fc.assert(
    fc.asyncProperty(hostile, hostile, fields, errors, async (email, name, others, wrong) => {
      const render = async (change: (text: string) => string) => {
        const named = (field: string) => (/^(email|name)$/.test(field) ? field : change(field))
        const typed = [['email', email], ['name', name], ...others].map(
          ([field = '', value = '']) => [named(field), change(value)] as const,
        )
        const errors = [
          ...wrong.map((it) => ({ field: named(it.field), message: change(it.message) })),
          { field: 'email', message: change(email) },
        ]
        return refusal({ kind: 'fields', typed, errors })
      }
      const harmless = await render((text) => (text === '' ? '' : 'x'))
      const page = await render((text) => text)
      const tags = (text: string) => text.replace(/"[^"]*"/g, '""').match(/<[^>]*>/g)
      expect(tags(page)).toEqual(tags(harmless))
      const kept = others.filter(([, value]) => value !== '').map(([, value]) => value)
      expect(attributes(page, 'value')).toEqual([email, name, ...kept])
    }),
    { numRuns: 500 },
  )
})

test('a form of 100,000 characters is shown again after a refusal, and none that is longer', async () => {
  const ofLength = (length: number) =>
    refusal({ kind: 'tooMany', typed: [['message', 'x'.repeat(length - 'message'.length)]] })
  expect(await ofLength(100_000)).toContain('<form')
  expect(await ofLength(100_001)).not.toContain('<form')
})

test('a form that is shown again has a stamp of its own and an empty hidden field, whatever was sent', async () => {
  const view = visitorsView('/api/signup?page=hosted', { stamp: () => 'new' })
  const page = await refusal(
    {
      kind: 'fields',
      typed: [
        ['rollcall_message', 'Buy now'],
        ['rollcall_stamp', 'old'],
        ['plan', 'pro'],
      ],
    },
    view,
  )
  expect(page).toMatch(/<textarea name="rollcall_message"[^>]*><\/textarea>/)
  expect(page.match(/rollcall_message/g)).toHaveLength(1)
  expect(page).toContain('<input type="hidden" name="rollcall_stamp" value="new">')
  expect(page.match(/rollcall_stamp/g)).toHaveLength(1)
  expect(page).toContain('<input type="hidden" name="plan" value="pro">')
  expect(page).not.toMatch(/Buy now|old/)
})
