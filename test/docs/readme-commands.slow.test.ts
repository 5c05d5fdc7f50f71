// @module-tag slow
import { describe, expect, test } from 'vitest'
import { compareAnswer, extractCommands, npmScriptsIn } from './readme-commands.ts'

const page = `
# Sample

\`\`\`sh
npm start && npm run docs:configuration && npm run -s check
\`\`\`

1. In a list:

   \`\`\`sh run
   curl http://localhost:3000/api/health
   \`\`\`

   which answers

   \`\`\`json answer
   { "status": "ok" }
   \`\`\`

\`\`\`sh run
echo one
echo two
\`\`\`
`

test('a block marked "run" is a command, with the answer that follows it, and other blocks are not', () => {
  expect(extractCommands('page.md', page)).toMatchObject([
    {
      line: 10,
      script: 'curl http://localhost:3000/api/health\n',
      answer: { language: 'json', text: '{ "status": "ok" }\n' },
    },
    { file: 'page.md', line: 20, script: 'echo one\necho two\n' },
  ])
  expect(extractCommands('page.md', page)[1]).not.toHaveProperty('answer')
})

test('an answer that follows no command is an error that names its place', () => {
  const lost = '```sh\necho\n```\n\n```json answer\n{}\n```\n'
  expect(() => extractCommands('page.md', lost)).toThrow('page.md:5 shows an answer')
})

test('the npm scripts that a page names are found in its blocks', () => {
  expect(npmScriptsIn(page)).toEqual(['start', 'docs:configuration', 'check'])
})

describe('an answer is compared with the one that is shown', () => {
  const accepted = `HTTP/1.1 202 Accepted
Content-Type: application/json

{ "id": "0199", "tags": ["a"] }
`
  const reply = accepted.replaceAll('\n', '\r\n')

  const [id, otherId] = [
    '0199d4c0-8a6e-7b1f-9c3d-2e4f6a8b0c1d',
    '01a202d1-8fa3-77c8-849e-7b1233f71311',
  ]
  const [time, otherTime] = ['2026-11-20T10:00:00.000Z', '2027-01-02T03:04:05.678Z']

  test('and fits it when only ids, times and further headers differ', () => {
    const shown = `{ "id": "${id}", "at": "${time}", "n": [1] }`
    expect(compareAnswer('json', shown, `{"n":[1],"at":"${otherTime}","id":"${otherId}"}`)).toEqual(
      [],
    )
    expect(compareAnswer('http', accepted, `${reply.trim()}\r\n`)).toEqual([])
    expect(compareAnswer('http', 'HTTP/1.1 202 Accepted\n', reply)).toEqual([])
    const row = (at: string) => `Email,Timestamp\na@b.c,${at}`
    expect(compareAnswer('csv', row(time), row(otherTime).replace('\n', '\r\n'))).toEqual([])
    expect(compareAnswer('text', 'one\n', 'one')).toEqual([])
  })

  test('and fits it when it has figures, and only these, bars and spaces differ', () => {
    const chart = ['Came  1,200', '12 | ##   ', '0  +----', '     10 11']
    const other = ['Came     7', '7 |    ## ##', '0 +---------', '    9 10 11']
    expect(compareAnswer('figures', chart.join('\n'), other.join('\n'))).toEqual([])
  })

  test.each([
    ['a key is missing', 'json', '{ "a": 1, "b": 2 }', '{ "a": 1 }', 'answer.b is missing'],
    ['a key is new', 'json', '{}', '{ "a": { "b": 1 } }', 'answer.a is object'],
    ['a type differs', 'json', '{ "a": [1] }', '{ "a": ["1"] }', 'a[0] is string'],
    ['a text differs', 'json', '{ "a": "x" }', '{ "a": "y" }', 'answer.a is "y", not "x"'],
    ['an id is no id', 'json', `{ "a": "${id}" }`, '{ "a": "0199" }', 'answer.a is "0199"'],
    ['there are more items', 'json', '[1]', '[1, 2]', 'has 2 items, not 1'],
    ['it is not JSON', 'json', '{}', '<html>', 'missing or not JSON'],
    ['the status differs', 'http', accepted, reply.replace('202', '422'), 'status is 422, not 202'],
    ['a header is missing', 'http', accepted, reply.replace('Content', 'X'), 'header content-type'],
    ['the body differs', 'http', accepted, reply.replace('id', 'no'), 'answer.id is missing'],
    ['the header row differs', 'csv', 'Email\na', 'E-mail\na', 'header row'],
    ['a cell differs', 'csv', 'Email\na', 'Email\nb', 'row 2 is b, not a'],
    ['a row is missing', 'csv', 'Email\na', 'Email', 'it has 1 rows, not 2'],
    ['the text differs', 'text', 'one', 'two', 'is two, not one'],
    ['a word beside a figure differs', 'figures', 'Came 7', 'Went 7', 'is Went 0, not Came 0'],
  ])('and does not fit it when %s', (_, language, shown, actual, problem) => {
    expect(compareAnswer(language, shown, actual).join('\n')).toContain(problem)
  })
})
