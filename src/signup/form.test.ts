import { expect, test } from 'vitest'
import { formFields } from './form.ts'

/** The fields of a form that is sent as this query. */
const read = (query: string, own?: Parameters<typeof formFields>[1]) =>
  formFields(new URLSearchParams(query), own)

test('known fields keep their names and empty ones are dropped', () => {
  const query =
    'email=a@b.co&name=&company=&metadata[plan]=&cf-turnstile-response=t&redirect=/thanks'
  expect(read(query)).toEqual({
    email: 'a@b.co',
    'cf-turnstile-response': 't',
    redirect: '/thanks',
  })
})

test.each([
  ['tags=a, b', 'a, b'],
  ['tags=a&tags=b,c', 'a,b,c'],
  ['tags[]=a&tags[]=&tags=b', 'a,b'],
])('%s: tags given several times are joined', (query, tags) => {
  expect(read(query)).toEqual({ tags })
})

test.each<[string, unknown]>([
  ['company=X', { company: 'X' }],
  ['metadata[plan]=free', { plan: 'free' }],
  ['metadata={"plan":"free","n":[1]}', { plan: 'free', n: [1] }],
  ['interest=a&interest=b', { interest: ['a', 'b'] }],
  ['metadata[a][b]=x', { 'metadata[a][b]': 'x' }],
  ['my metadata[plan]=x', { 'my metadata[plan]': 'x' }],
  ['constructor=x', { constructor: 'x' }],
  ['metadata[]=x', { 'metadata[]': 'x' }],
  ['metadata={"plan":"free"}&metadata={"page":"home"}', { plan: 'free', page: 'home' }],
  ['bad%00%0aname=x', { 'bad name': 'x' }],
  ['a%00b=x&a b=y', { 'a b': ['x', 'y'] }],
])('%s: unknown fields and metadata[key] become metadata', (query, metadata) => {
  expect(read(query)).toEqual({ metadata })
})

test('all values of a key from the three places are kept, those of the JSON first', () => {
  const query = 'plan=unknown field&metadata[plan]=bracket&metadata={"plan":["json"]}'
  expect(read(query)).toEqual({ metadata: { plan: ['json', 'unknown field', 'bracket'] } })
})

test('a field named __proto__ is kept like any other', () => {
  expect(JSON.stringify(read('__proto__=x')['metadata'])).toBe('{"__proto__":"x"}')
})

test.each(['{}', ''])('metadata %j is no metadata', (json) => {
  expect(read(`metadata=${json}`)).toEqual({})
})

test.each(['plan', '[1]', 'null', '{"a":'])(
  'metadata %j stays a text, for the schema to refuse',
  (metadata) => {
    expect(read(`metadata=${metadata}&company=X`)).toEqual({ metadata })
  },
)

test.each([
  ['email=a@b.co&email=a@b.co', 'a@b.co'],
  ['email=&email=a@b.co', 'a@b.co'],
  ['email=a@b.co&email=c@d.co', ['a@b.co', 'c@d.co']],
])('%s: a single field is one value if all are equal, and a list otherwise', (query, email) => {
  expect(read(query)).toEqual({ email })
})

test('the first token and the first redirect that are not empty count', () => {
  const query = 'challengeToken=&challengeToken=one&challengeToken=two&redirect=/a&redirect=/b'
  expect(read(query)).toEqual({ challengeToken: 'one', redirect: '/a' })
})

test('of the fields that the spam filter reads, the first one that is not empty counts', () => {
  const query = 'rollcall_message=&rollcall_stamp=a&rollcall_stamp=b&rollcall_message=x'
  expect(read(query)).toEqual({ rollcall_message: 'x', rollcall_stamp: 'a' })
})

test('the choices of a form are a list, be it one, and repeated fields of other types stay a mistake', () => {
  const own = (['choices', 'choice'] as const).map((type) => {
    return { name: type, type, required: false, options: ['a', 'b'] }
  })
  const fields = { choices: ['a'], choice: ['a', 'b'] }
  expect(read('choices=a&choice=a&choices=&choice=b', own)).toMatchObject(fields)
})
