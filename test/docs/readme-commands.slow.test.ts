// @module-tag slow
import { expect, test } from 'vitest'
import { essence, extractCommands, npmScriptsIn } from './readme-commands.ts'

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

const accepted = 'HTTP/1.1 202 Accepted\nContent-Type: application/json\n\n{ "tags": ["a"] }\n'
const reply = accepted.replaceAll('\n', '\r\n').replace('\r\n', '\r\nX-More: 1\r\n')
const [id, otherId] = [
  '0199d4c0-8a6e-7b1f-9c3d-2e4f6a8b0c1d',
  '01a202d1-8fa3-77c8-849e-7b1233f71311',
]
const [time, otherTime] = ['2026-11-20T10:00:00.000Z', '2027-01-02T03:04:05.678Z']
const chart = ['Came  1,200', '12 | ##   ', '0  +----', '     10 11'].join('\n')
const another = ['Came     7', '7 |    ## ##', '0 +---------', '    9 10 11'].join('\n')

test.each([
  [
    'ids and times',
    'json',
    `{ "id": "${id}", "at": "${time}" }`,
    `{"at":"${otherTime}","id":"${otherId}"}`,
  ],
  ['further headers', 'http', accepted, reply],
  ['a body that is not shown', 'http', 'HTTP/1.1 202 Accepted\n', reply],
  ['the ends of lines', 'csv', 'Email\na', 'Email\r\na\r\n'],
  ['figures, bars and spaces', 'figures', chart, another],
])('an answer fits the one that is shown when only %s differ', (_, language, shown, actual) => {
  expect(essence(language, actual, shown)).toEqual(essence(language, shown))
})

test.each([
  ['a key is missing', 'json', '{ "a": 1, "b": 2 }', '{ "a": 1 }'],
  ['a key is new', 'json', '{}', '{ "a": { "b": 1 } }'],
  ['an id is no id', 'json', `{ "a": "${id}" }`, '{ "a": "0199" }'],
  ['it is not JSON', 'json', '{}', '<html>'],
  ['the status differs', 'http', accepted, reply.replace('202', '422')],
  ['a header is missing', 'http', accepted, reply.replace('Content', 'X')],
  ['the body differs', 'http', accepted, reply.replace('tags', 'no')],
  ['a row is missing', 'csv', 'Email\na', 'Email'],
  ['a word beside a figure differs', 'figures', 'Came 7', 'Went 7'],
])('an answer does not fit the one that is shown when %s', (_, language, shown, actual) => {
  expect(essence(language, actual, shown)).not.toEqual(essence(language, shown))
})
