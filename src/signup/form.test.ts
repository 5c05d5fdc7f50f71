import { expect, test } from 'vitest'
import { formFields } from './form.ts'

type Entries = [string, string][]

test('known fields keep their names and empty ones are dropped', () => {
  const entries: Entries = [
    ['email', 'a@b.co'],
    ['name', ''],
    ['company', ''],
    ['metadata[plan]', ''],
    ['cf-turnstile-response', 'token'],
    ['redirect', '/thanks'],
  ]
  expect(formFields(entries)).toEqual({
    email: 'a@b.co',
    'cf-turnstile-response': 'token',
    redirect: '/thanks',
  })
})

test.each<[Entries, string]>([
  [[['tags', 'a, b']], 'a, b'],
  [
    [
      ['tags', 'a'],
      ['tags', 'b,c'],
    ],
    'a,b,c',
  ],
  [
    [
      ['tags[]', 'a'],
      ['tags[]', ''],
      ['tags', 'b'],
    ],
    'a,b',
  ],
])('case %#: tags given several times are joined', (entries, tags) => {
  expect(formFields(entries)).toEqual({ tags })
})

test.each<[Entries, unknown]>([
  [[['company', 'X']], { company: 'X' }],
  [[['metadata[plan]', 'free']], { plan: 'free' }],
  [[['metadata', '{"plan":"free","n":[1]}']], { plan: 'free', n: [1] }],
  [
    [
      ['interest', 'a'],
      ['interest', 'b'],
    ],
    { interest: ['a', 'b'] },
  ],
  [[['metadata[a][b]', 'x']], { 'metadata[a][b]': 'x' }],
  [[['my metadata[plan]', 'x']], { 'my metadata[plan]': 'x' }],
  [[['metadata[]', 'x']], { 'metadata[]': 'x' }],
  [
    [
      ['metadata', '{"plan":"free"}'],
      ['metadata', '{"page":"home"}'],
    ],
    { plan: 'free', page: 'home' },
  ],
  [[['bad\u0000\nname', 'x']], { 'bad name': 'x' }],
  [
    [
      ['a\u0000b', 'x'],
      ['a b', 'y'],
    ],
    { 'a b': ['x', 'y'] },
  ],
  [[['constructor', 'x']], { constructor: 'x' }],
])('case %#: unknown fields and metadata[key] become metadata', (entries, metadata) => {
  expect(formFields(entries)).toEqual({ metadata })
})

test('all values of a key from the three places are kept, those of the JSON first', () => {
  const entries: Entries = [
    ['plan', 'unknown field'],
    ['metadata[plan]', 'bracket'],
    ['metadata', '{"plan":["json"]}'],
  ]
  expect(formFields(entries)).toEqual({
    metadata: { plan: ['json', 'unknown field', 'bracket'] },
  })
})

test('a field named __proto__ is kept like any other', () => {
  const { metadata } = formFields([['__proto__', 'x']])
  expect(JSON.stringify(metadata)).toBe('{"__proto__":"x"}')
})

test.each(['{}', ''])('metadata %j is no metadata', (json) => {
  expect(formFields([['metadata', json]])).toEqual({})
})

test.each(['plan=free', '[1]', 'null', '{"a":'])(
  'metadata %j stays a text, for the schema to refuse',
  (text) => {
    const entries: Entries = [
      ['metadata', text],
      ['company', 'X'],
    ]
    expect(formFields(entries)).toEqual({ metadata: text })
  },
)

test('a single field that comes twice is one value if both are equal, and a list otherwise', () => {
  const twice = (first: string, second: string) =>
    formFields([
      ['email', first],
      ['email', second],
    ])
  expect(twice('a@b.co', 'a@b.co')).toEqual({ email: 'a@b.co' })
  expect(twice('', 'a@b.co')).toEqual({ email: 'a@b.co' })
  expect(twice('a@b.co', 'c@d.co')).toEqual({ email: ['a@b.co', 'c@d.co'] })
})

test('the first token and the first redirect that are not empty count', () => {
  const entries: Entries = [
    ['challengeToken', ''],
    ['challengeToken', 'one'],
    ['challengeToken', 'two'],
    ['redirect', '/a'],
    ['redirect', '/b'],
  ]
  expect(formFields(entries)).toEqual({ challengeToken: 'one', redirect: '/a' })
})

test('the choices of a form are a list, be it one, and repeated fields of other types stay a mistake', () => {
  const own = [
    { name: 'topics', type: 'choices', required: false, options: ['a', 'b'] },
    { name: 'plan', type: 'choice', required: false, options: ['a', 'b'] },
  ] as const
  const given = [
    ['topics', 'a'],
    ['plan', 'a'],
    ['topics', ''],
    ['plan', 'b'],
  ] as const
  expect(formFields(given, own)).toMatchObject({ topics: ['a'], plan: ['a', 'b'] })
})
