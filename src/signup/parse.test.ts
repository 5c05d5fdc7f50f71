import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { ParseContext, ParsedSignup } from './parse.ts'
import { parseForm, parseSignup } from './parse.ts'
import { bulkItemSchema, formSchema, signupSchema } from './schema.ts'
import { tabsByKey } from './tab.ts'

const api: ParseContext = { defaultTab: 'Sheet1', source: 'api' }
const email = 'name@example.com'
const rest = { name: '', tags: [], metadata: '', fields: {} }
const onlyEmail = { email, sheetTab: 'Sheet1', source: 'api', ...rest }

function accepted(input: unknown, context = api): ParsedSignup {
  const parsed = parseSignup(input, context)
  if (!parsed.ok) throw new Error(`refused: ${JSON.stringify(parsed.problems)}`)
  return parsed.value
}

const containing = (part: string): unknown => expect.stringContaining(part)

/** Problems by field; empty when the input was accepted. */
function problems(input: unknown, context = api): Record<string, string> {
  const parsed = parseSignup(input, context)
  if (parsed.ok) return {}
  return Object.fromEntries(parsed.problems.map(({ field, message }) => [field, message]))
}

describe('a signup from JSON', () => {
  test('all fields are read, cleaned and trimmed', () => {
    const input = {
      email: ' Ada@Example.COM ',
      sheetTab: ' Launch ',
      source: '\tlanding\u0000page ',
      name: ' Ada\r\nLovelace ',
      tags: [' a ', '', 'b\nc', '\u0000'],
      metadata: { plan: 'free\n' },
      challengeToken: 'token',
    }
    expect(accepted(input)).toEqual({
      email: 'Ada@example.com',
      sheetTab: 'Launch',
      source: 'landing page',
      name: 'Ada Lovelace',
      tags: ['a', 'b c'],
      metadata: '{"plan":"free "}',
      fields: {},
      challengeToken: 'token',
    })
  })

  test.each([null, ''])('%j in an optional field counts as absent', (nothing) => {
    const fields = ['sheetTab', 'tab', 'source', 'name', 'tags', 'metadata', 'challengeToken']
    const absent = Object.fromEntries(
      [...fields, 'cf-turnstile-response'].map((field) => [field, nothing]),
    )
    expect(accepted({ email, ...absent })).toEqual(onlyEmail)
  })

  test.each(['api', 'form', 'embed', 'bulk'] as const)('source defaults to %s', (source) => {
    expect(accepted({ email, source: ' ' }, { ...api, source }).source).toBe(source)
  })

  test('every wrong field is reported at once', () => {
    const input = {
      email: 'x',
      sheetTab: ' ',
      source: 1,
      name: 'x'.repeat(201),
      tags: ['a', 1, 'x'.repeat(101), null],
      metadata: [],
      challengeToken: 7,
      emial: email,
      other: null,
    }
    expect(problems(input)).toEqual({
      email: 'Enter an email address such as name@example.com.',
      sheetTab: 'The tab needs a name, or leave the field out.',
      source: 'The source must be given once, as text.',
      name: 'The name is too long: at most 200 characters.',
      'tags[1]': 'A tag must be text.',
      'tags[2]': 'A tag is too long: at most 100 characters.',
      'tags[3]': 'A tag must be text.',
      metadata: 'Metadata must be a JSON object, such as {"plan":"free"}.',
      challengeToken: 'The challenge token must be text.',
      emial: 'Unknown field. Did you mean "email"?',
      other: expect.stringMatching(
        /Known are email, sheetTab, source, name, tags and \d more; anything else belongs in metadata\.$/,
      ),
    })
  })

  test.each([{}, { email: null }, { email: '' }, { email: ' ' }])(
    '%j lacks the address',
    (input) => {
      expect(problems(input)).toEqual({ email: 'The email address is missing.' })
    },
  )

  test.each([
    [{ email: 7 }, 'email', 'The email address must be text.'],
    [{ email: [email] }, 'email', 'Give one email address only.'],
  ])('%j says what the field must be', (input, field, message) => {
    expect(problems(input)).toEqual({ [field]: message })
  })

  test.each([null, undefined, true, 1, 'text', [], [{ email }]])('%j is not a signup', (input) => {
    expect(problems(input)).toEqual({ '': containing('must be a JSON object') })
  })

  test('unknown fields are reported even if JavaScript has properties of that name', () => {
    const input: unknown = JSON.parse(`{"email":"${email}","__proto__":{},"constructor":1}`)
    const parsed = parseSignup(input, api)
    expect(parsed.ok ? [] : parsed.problems.map(({ field }) => field)).toEqual([
      '__proto__',
      'constructor',
    ])
  })

  test('members of a __proto__ in JSON do not count as fields', () => {
    expect(problems(JSON.parse('{"__proto__":{"email":"a@b.co"}}'))).toHaveProperty('email')
  })

  test('names of unknown fields are cut and cleaned, and only twenty are reported', () => {
    const long = 'x\u0000'.repeat(500_000)
    expect(Object.keys(problems({ email, [long]: 1 }))).toEqual(['x '.repeat(32).trim()])
    const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [`unknown${i}`, i]))
    expect(Object.keys(problems({ email, ...many }))).toHaveLength(20)
  })

  test('an unknown field with an unprintable character in its name does not hide a wrong field', () => {
    const wrong = problems({ email: 'x' })
    expect(problems({ 'email\u0000': 1, email: 'x' })).toEqual(wrong)
  })

  test('only forms can have a redirect', () => {
    expect(problems({ email, redirect: '/' })).toHaveProperty('redirect')
  })

  test('in bulk, a token inside a signup is an unknown field', () => {
    const bulk: ParseContext = { ...api, source: 'bulk' }
    const input = { email, challengeToken: 't', 'cf-turnstile-response': 't' }
    const message = containing('one token for the whole request')
    expect(problems(input, bulk)).toEqual({
      challengeToken: message,
      'cf-turnstile-response': message,
    })
  })
})

describe('limits', () => {
  const tagList = (count: number) => Array.from({ length: count }, (_, i) => `tag${i}`)

  test.each([
    ['sheetTab', 'x'.repeat(100), 'x'.repeat(101)],
    ['sheetTab', ` ${'x'.repeat(100)} `, ` ${'x'.repeat(101)} `],
    ['source', ` ${'x'.repeat(199)}\u0000\u0000 `, ` x${'x'.repeat(200)}\u0000`],
    ['name', '😀'.repeat(100), `${'😀'.repeat(100)}x`],
    ['name', 'a\u0000\u0000b'.repeat(66), 'a\u0000b'.repeat(67)],
    ['tags', [...tagList(50), '', ' '], [...tagList(51), '']],
    ['tags', `${tagList(50).join(',')},,`, tagList(51).join(',')],
    ['tags', 'x'.repeat(100), 'x'.repeat(101)],
  ])('case %#: %s accepts a value at its limit and refuses a longer one', (field, edge, past) => {
    expect(problems({ email, [field]: edge })).toEqual({})
    expect(problems({ email, [field]: past })).toEqual({
      [field]: containing('at most'),
    })
  })

  test('a token over its limit stays long enough for the challenge to refuse it', () => {
    const token = (length: number) => accepted({ email, challengeToken: 't'.repeat(length) })
    expect(token(2_048).challengeToken).toHaveLength(2_048)
    expect(token(2_049).challengeToken).toHaveLength(2_049)
    expect(token(1_000_000).challengeToken).toHaveLength(2_049)
  })

  test('what the spam filter reads in a form is cut, and is no part of the signup or of its metadata', () => {
    const own = { rollcall_message: 'x'.repeat(1_000), rollcall_stamp: 's'.repeat(1_000) }
    const parsed = parseForm(Object.entries({ email, ...own }), api)
    const value = { ...onlyEmail, message: 'x'.repeat(101), stamp: 's'.repeat(101) }
    expect(parsed).toEqual({ ok: true, value })
    expect(problems({ email, ...own })).toHaveProperty('rollcall_message')
    expect(problems({ email, ...own })).toHaveProperty('rollcall_stamp')
  })

  test('a redirect over its limit stays long enough to be told apart', () => {
    const lengthOf = (length: number) => {
      const parsed = parseForm(Object.entries({ email, redirect: '/'.repeat(length) }), api)
      return parsed.ok && parsed.value.redirect?.length
    }
    expect([2_048, 2_049, 1_000_000].map(lengthOf)).toEqual([2_048, 2_049, 2_049])
  })

  test('a form may have 1,000 fields', () => {
    const entries = (count: number) =>
      new URLSearchParams(`email=${email}${'&empty='.repeat(count - 1)}`)
    expect(parseForm(entries(1_000), api).ok).toBe(true)
    expect(parseForm(entries(1_001), api)).toEqual({
      ok: false,
      problems: [{ field: '', message: containing('at most 1000') }],
    })
  })
})

describe('tags', () => {
  test('in a text are divided by commas, and those of a list stay as they are', () => {
    expect(accepted({ email, tags: 'a, b,,c ' }).tags).toEqual(['a', 'b', 'c'])
    expect(accepted({ email, tags: ',' }).tags).toEqual([])
    expect(accepted({ email, tags: ['a, b', 'a', 'a'] }).tags).toEqual(['a, b', 'a', 'a'])
  })

  test.each([1, true, {}])('%j is not a list of tags', (tags) => {
    expect(problems({ email, tags })).toEqual({ tags: containing('list of texts') })
  })

  test('no more than twenty wrong tags are reported', () => {
    expect(Object.keys(problems({ email, tags: Array(500_000).fill(1) }))).toHaveLength(20)
  })
})

describe('tabs and tokens', () => {
  const knownTabs = tabsByKey(['Launch', 'Beta'])

  test.each([
    ['sheet1', 'Sheet1'],
    [' beta ', 'Beta'],
    ['other', 'other'],
  ])('the tab %j is spelled %j, as the settings do', (sheetTab, spelled) => {
    expect(accepted({ email, sheetTab }, { ...api, knownTabs }).sheetTab).toBe(spelled)
  })

  test.each([
    [{ challengeToken: 'a' }, 'a'],
    [{ 'cf-turnstile-response': 'b' }, 'b'],
    [{ challengeToken: '', 'cf-turnstile-response': 'b' }, 'b'],
    [{ challengeToken: 'a', 'cf-turnstile-response': 'b' }, 'a'],
    [{}, undefined],
  ])('the token of %j is %j', (tokens, token) => {
    expect(accepted({ email, ...tokens }).challengeToken).toBe(token)
  })
})

describe('a signup from a form', () => {
  const form: ParseContext = { ...api, source: 'form' }

  test('any form with an email field works, and its other fields are kept', () => {
    const known = `email=${email}&name=Ada&tags=a&tags=b&redirect=/thanks`
    const entries = new URLSearchParams(`${known}&company=Analytical%0d%0aEngines&__proto__=x`)
    expect(parseForm(entries, form)).toEqual({
      ok: true,
      value: {
        ...onlyEmail,
        source: 'form',
        name: 'Ada',
        tags: ['a', 'b'],
        metadata: '{"company":"Analytical Engines","__proto__":"x"}',
        fields: {},
        redirect: '/thanks',
      },
    })
  })
})

describe("a site's own fields", () => {
  const own: ParseContext = {
    ...api,
    fields: [
      { name: 'company', type: 'text', required: true, maxLength: 80 },
      { name: 'seats', type: 'number', required: false, min: 1 },
      { name: 'news', type: 'checkbox', label: 'Send me news', required: false },
    ],
  }

  test('are read from the top level, and keep the type that JSON gave them', () => {
    const fields = { company: 'Engines', seats: 2.5, news: true }
    const metadata = { other: 1 }
    expect(parseSignup({ email, ...fields, metadata }, own)).toEqual({
      ok: true,
      value: { ...onlyEmail, fields, metadata: '{"other":1}' },
    })
  })

  test('come from a form as text, and do not go into metadata', () => {
    const company = 'Analytical Engines'
    const parsed = (query: string) => {
      const entries = new URLSearchParams(
        `email=${email}&company= Analytical%0d%0aEngines ${query}`,
      )
      return parseForm(entries, { ...own, source: 'form' })
    }
    expect(parsed('&seats=3&news=0&news=on&other=x')).toMatchObject({
      value: { metadata: '{"other":"x"}', fields: { company, seats: 3, news: true } },
    })
    expect(parsed('')).toMatchObject({ value: { fields: { company, news: false } } })
  })

  test('that are wrong are told with all other mistakes, and unknown names may mean them', () => {
    const wrong = { email: 'x', seats: 0, news: 'maybe', compani: 'y', sheetTab: 'Other' }
    expect(parseSignup(wrong, { ...own, onlyKnownTabs: true })).toEqual({
      ok: false,
      problems: [
        { field: 'email', message: expect.any(String) as string },
        { field: 'compani', message: 'Unknown field. Did you mean "company"?' },
        { field: 'company', message: 'company is missing: fill it in.' },
        { field: 'seats', message: 'seats must be at least 1.' },
        { field: 'news', message: 'Send me news must be true or false.' },
        { field: 'sheetTab', message: containing('takes no signups') },
      ],
    })
  })

  test('may be missing in an import, as an older list has none of them', () => {
    expect(parseSignup({ email }, { ...own, source: 'import' })).toHaveProperty('ok', true)
  })
})

describe('the field tab', () => {
  const some: ParseContext = { ...api, knownTabs: tabsByKey(['News']), onlyKnownTabs: true }
  const from = { api: parseSignup, bulk: parseSignup, form: parseAsForm } as const

  function parseAsForm(input: unknown, context: ParseContext) {
    return parseForm(Object.entries(input as Record<string, string>), context)
  }

  describe.each(['api', 'bulk', 'form'] as const)('in a signup by %s', (source) => {
    const parsed = (input: object, context = api) =>
      from[source]({ email, ...input }, { ...context, source })

    test.each([
      { tab: ' Launch ' },
      { tab: 'Launch', sheetTab: '' },
      { tab: '', sheetTab: 'Launch' },
      { tab: 'LAUNCH', sheetTab: 'Launch' },
    ])('%j means the tab Launch', (tabs) => {
      expect(parsed(tabs)).toMatchObject({ ok: true, value: { sheetTab: 'Launch', metadata: '' } })
    })

    test('that names another tab than sheetTab is a mistake', () => {
      const problems = [{ field: 'tab', message: containing('send one of them') }]
      expect(parsed({ tab: 'News', sheetTab: 'Sheet1' })).toEqual({ ok: false, problems })
      expect(parsed({ tab: 'News', sheetTab: 'Sheet1' }, some)).toEqual({ ok: false, problems })
    })

    test('has the limits of sheetTab, and its problem is told under its own name', () => {
      for (const [tab, words] of [
        ['x'.repeat(101), 'at most 100'],
        ['a\nb', 'remove'],
        ['Other', 'no signups'],
      ] as const) {
        const problems = [{ field: 'tab', message: containing(words) }]
        expect(parsed({ tab }, some)).toEqual({ ok: false, problems })
      }
      expect(parsed({ tab: 'news' }, some)).toMatchObject({ value: { sheetTab: 'News' } })
    })

    test('is the field of the site where one is declared by that name', () => {
      const tab = { name: 'tab', type: 'text', required: false, maxLength: 20 } as const
      const context = { ...some, fields: [tab] }
      expect(parsed({ tab: 'Other', sheetTab: 'News' }, context)).toMatchObject({
        value: { sheetTab: 'News', fields: { tab: 'Other' } },
      })
    })
  })

  test('goes into Metadata when a form says so', () => {
    const entries = Object.entries({ email, 'metadata[tab]': 'x' })
    expect(parseForm(entries, { ...api, source: 'form' })).toMatchObject({
      value: { sheetTab: 'Sheet1', metadata: '{"tab":"x"}' },
    })
  })
})

test('each schema describes its fields for the API document', () => {
  for (const schema of [bulkItemSchema, signupSchema, formSchema]) {
    const document = z.toJSONSchema(schema, { io: 'input' })
    expect(document.required).toEqual(['email'])
    expect(document.additionalProperties).toBe(false)
    expect(Object.keys(document.properties ?? {})).toEqual(Object.keys(schema.shape))
    expect(Object.values(document.properties ?? {})).not.toContainEqual({})
  }
})
