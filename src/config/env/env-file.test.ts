import { parseEnv } from 'node:util'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseEnvFile } from './env-file.ts'

test('a file may have blank lines, comments and assignments', () => {
  const { variables, assignments, problems } = parseEnvFile(
    '\ufeff# ours\r\n\r\n \t \nPORT=3001 # the port\nexport DEFAULT_SHEET_TAB = "Waiting list"  # quoted\n' +
      "PAGE_TEXT='It\\n#1'\nHOST=\nSHEETS_SHEET_ID=https://docs.google.com/spreadsheets/d/x/edit#gid=0\n" +
      'A="one\ntwo\\nthree"\nB=`"`\n\tlog-level=debug#1\nLAST=1',
  )
  expect(problems).toEqual([])
  expect(variables).toEqual({
    PORT: '3001',
    DEFAULT_SHEET_TAB: 'Waiting list',
    PAGE_TEXT: 'It\\n#1',
    HOST: '',
    SHEETS_SHEET_ID: 'https://docs.google.com/spreadsheets/d/x/edit#gid=0',
    A: 'one\ntwo\nthree',
    B: '"',
    'log-level': 'debug#1',
    LAST: '1',
  })
  expect(assignments.map(({ line }) => line)).toEqual([4, 5, 6, 7, 8, 9, 11, 12, 13])
})

test('a file without mistakes gives the same values as in Node', () => {
  const name = fc.stringMatching(/^[A-Z_][A-Z0-9_]{0,9}$/)
  const word = fc.stringMatching(/^[\w!%&()*+,./:;<>?@[\]^{|}~-]{1,12}$/)
  const between = (quote: string) =>
    fc
      .string({ unit: fc.constantFrom('a', ' ', '"', "'", '`', '#', '=', '\n'), maxLength: 12 })
      .map((text) => {
        const inner = text.replaceAll(quote, '')
        return quote + inner + quote
      })
  const value = fc.oneof(word, fc.constant(''), between('"'), between("'"), between('`'))
  const end = fc.constantFrom('', ' ', ' # a comment', '\t#')
  const line = fc.oneof(
    fc.constantFrom('', '# comment', '#A=1'),
    fc
      .tuple(fc.constantFrom('', 'export '), name, value, end)
      // Of an empty value Node makes something else when white space follows, or export goes before.
      .map(([before, key, text, after]) =>
        text === '' ? `${key}=` : `${before}${key}=${text}${after}`,
      ),
  )
  fc.assert(
    fc.property(fc.array(line, { maxLength: 6 }), (rows) => {
      const text = rows.join('\n')
      const { variables, problems } = parseEnvFile(text)
      expect(problems).toEqual([])
      expect(variables).toEqual({ ...parseEnv(text) })
    }),
    { numRuns: 500 },
  )
})

describe('the problem names a bad line by its number', () => {
  test.each<[string, string, RegExp]>([
    ['a colon', 'A=1\nPORT: 3001', /not an assignment in line 2\./],
    ['a space', 'PORT 3001', /line 1\./],
    ['a colon, and = in the value', 'CHALLENGE_SECRET_KEY: 0xabc=', /line 1\./],
    ['very many lines', 'a\nA=1\n'.repeat(20), /lines 1, 3, 5, 7, 9, 11, 13, 15, …\./],
    ['an unclosed quote', 'PORT="3001\nHOST=::', /not closed.* line 1\./],
    [
      'a quote that is closed below another setting',
      'NOTE="3\nCHALLENGE_SECRET_KEY=x\nEND="',
      /not closed.* lines 1, 3\./,
    ],
    ['text behind a quote', 'PAGE_TITLE="The "best" letter"', /after a closing quote.* line 1\./],
    ['a second setting behind a semicolon', 'PORT=1;export\tHOST=::', /second setting.* line 1\./],
    ['a colour without quotes', 'PAGE_ACCENT=#0a7a4b', /begins with #.* line 1\./],
  ])('%s', (_, text, problem) => {
    const { problems } = parseEnvFile(text)
    expect(problems.map((found) => found.problem).join('\n')).toMatch(problem)
  })

  test.each([
    ['JSON without quotes', 'SHEETS_PRIVATE_KEY={\n  "type": "service_account"\n}'],
    ['JSON between double quotes', 'SHEETS_PRIVATE_KEY="{"type":"service_account"}"'],
  ])('the hint for %s says to use single quotes', (_, text) => {
    expect(parseEnvFile(text).problems[0]?.hint).toContain("SHEETS_PRIVATE_KEY='{…}'")
  })

  test('the hint for lines of a key says to use double quotes', () => {
    const { problems } = parseEnvFile('SHEETS_PRIVATE_KEY=-----BEGIN\nMIIE\n-----END')
    expect(problems[0]?.problem).toContain('lines 2, 3')
    expect(problems[0]?.hint).toContain('double quotes')
  })

  test('a second setting on a line does not become part of the value before it', () => {
    const text =
      'PORT=1 API_KEYS=x\nHOST="::" ; API_KEYS=x\nPAGE_TITLE="a HOST=b"\nLOG_LEVEL=x\vPORT=1'
    const { variables } = parseEnvFile(text)
    expect(variables).toEqual({ PORT: '1', HOST: '::', PAGE_TITLE: 'a HOST=b', LOG_LEVEL: 'x' })
  })

  test('a setting with a mistake keeps its value, so that it is not reported as missing', () => {
    expect(parseEnvFile('PORT="3001\nPAGE_ACCENT=#0a7a4b').variables).toEqual({
      PORT: '3001',
      PAGE_ACCENT: '#0a7a4b',
    })
  })
})
