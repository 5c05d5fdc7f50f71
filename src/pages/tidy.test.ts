import { expect, test } from 'vitest'
import { visitorsView } from '../../harness/page-options.ts'
import { refusalPage, signupPage, thanksPage } from './pages.ts'
import { tidy } from './tidy.ts'

const typed = [
  ['email', 'nobody'],
  ['name', 'Ada'],
  ['company', 'A\n\n  B'],
] as const
const refusal = {
  kind: 'fields',
  isOurs: true,
  typed,
  errors: [
    { field: 'email', message: 'An @ is missing.' },
    { field: 'sheetTab', message: 'No such tab.' },
  ],
  requestId: '00000000-0000-4000-8000-000000000000',
  next: '/next',
} as const

test.each([
  ['the form', signupPage(visitorsView('/?name=required'), [['source', 'x']], 'next')],
  ['the thank-you page', thanksPage(visitorsView('/api/signup/thanks'))],
  ['the form with errors', refusalPage(refusal, visitorsView('/api/signup?page=hosted'))],
  [
    'what is told without a form',
    refusalPage({ ...refusal, typed: undefined }, visitorsView('/nothing')),
  ],
])(
  'the text of %s is indented by depth, with no blank line and no space too many',
  async (_, of) => {
    const page = await of
    let depth = 0
    // A value is not ours to change.
    for (const line of page.replace('A\n\n  B', '').trimEnd().split('\n')) {
      if (line.trimStart().startsWith('</')) depth--
      expect(line).toMatch(new RegExp(`^${'  '.repeat(depth)}\\S`))
      expect(line).not.toMatch(/\S {2}|\s$| >/)
      const opened = line.match(/<(?!meta|link|img|input|path|!|\/)[a-z0-9]+/g) ?? []
      const closed = line.match(/<\/[a-z0-9]+/g) ?? []
      depth += opened.length - closed.length + (line.trimStart().startsWith('</') ? 1 : 0)
    }
    expect(depth).toBe(0)
  },
)

test('what stands in quotes stays as it is, and so does the space between words', () => {
  const html = '<div><input value="a  b\n\nc" \n /><p>one\n <b>two</b>  three</p></div>'
  expect(tidy(html)).toBe(
    '<div>\n  <input value="a  b\n\nc" />\n  <p>one <b>two</b> three</p>\n</div>\n',
  )
})
