import type { SettingProblem } from '../problem.ts'
import { settingNames } from '../settings.ts'

export interface EnvFile {
  /** When a name is assigned twice, the last value counts. */
  readonly variables: Readonly<Record<string, string>>
  readonly assignments: readonly Assignment[]
  /** The lines that are not understood, by number only, because their text may be part of a key. */
  readonly problems: readonly SettingProblem[]
}

export interface Assignment {
  readonly name: string
  readonly value: string
  /** Counted from 1. */
  readonly line: number
  readonly lineCount: number
}

/** The length of the name is bounded, so that a line of a key does not look like an assignment. */
const assignment = /^\s*(?:export\s+)?([A-Za-z_][\w.-]{0,63})\s*=\s*(.*)$/
const blankOrComment = /^\s*(#.*)?$/
const ours: ReadonlySet<string> = new Set(settingNames)

/**
 * Reads lines of the form `NAME=value`, like Node's `parseEnv`. Node skips a line that it does not
 * understand; here such a line is a problem. A leading `export` is dropped, and a quoted value may have
 * several lines. `#` begins a comment only after white space, because the URL of a spreadsheet has one.
 */
export function parseEnvFile(text: string): EnvFile {
  const rows = rowsOf(text)
  const assignments: Assignment[] = []
  const found: Found[] = []

  for (let index = 0; index < rows.length;) {
    const row = rows[index] ?? ''
    const line = index + 1
    const [, name, rest = ''] = assignment.exec(row) ?? []
    if (name === undefined) {
      if (!blankOrComment.test(row)) found.push({ mistake: 'line', line, row })
      index += 1
      continue
    }
    const { text: value, rowCount, mistake } = readValue(rest, rows, index)
    if (mistake) found.push({ mistake, line, row })
    assignments.push({ name, value, line, lineCount: rowCount })
    index += rowCount
  }
  const variables = Object.fromEntries(assignments.map(({ name, value }) => [name, value]))
  const problems = Map.groupBy(found, ({ mistake }) => mistake).values()
  return { variables, assignments, problems: Array.from(problems, problemOf) }
}

/** The lines of an `.env` file, without a byte order mark. */
export function rowsOf(text: string): string[] {
  return text.replace(/^\ufeff/, '').split(/\r\n|\r|\n/)
}

interface Value {
  readonly text: string
  /** How many rows of the file the assignment takes. */
  readonly rowCount: number
  readonly mistake?: Mistake
}

type Mistake = 'line' | 'quote' | 'hash' | 'second'

interface Found {
  readonly mistake: Mistake
  readonly line: number
  readonly row: string
}

/** Reads the value after the `=`. A value with a mistake ends with its row. */
function readValue(rest: string, rows: readonly string[], index: number): Value {
  const quote = /^["'`]/.exec(rest)?.[0]
  if (quote !== undefined) return readQuoted(quote, rest.slice(1), rows, index)
  const comment = /^#(?=\s|$)|\s#/.exec(rest)
  const value = rest.slice(0, comment?.index).trim()
  const text = beforeNextSetting(value)
  if (text !== value) return { text, rowCount: 1, mistake: 'second' }
  return { text, rowCount: 1, ...(text.startsWith('#') && { mistake: 'hash' as const }) }
}

/** Cuts a value where another setting follows on the same line, so that it does not become part of the value. */
function beforeNextSetting(value: string): string {
  for (const { index, 1: name = '' } of value.matchAll(/[\s;"'`]([A-Z_]{4,64})\s*=/g)) {
    if (ours.has(name)) return value.slice(0, index).replace(/["'`]?[\s;]*(export)?$/, '')
  }
  return value
}

function readQuoted(quote: string, first: string, rows: readonly string[], index: number): Value {
  const inner: string[] = []
  for (let row: string | undefined = first; row !== undefined; row = rows[index + inner.length]) {
    const end = row.indexOf(quote)
    inner.push(end < 0 ? row : row.slice(0, end))
    if (end >= 0) {
      const hasSwallowed = inner.slice(1).some((line) => ours.has(assignment.exec(line)?.[1] ?? ''))
      if (hasSwallowed || !blankOrComment.test(row.slice(end + 1))) break
      const text = inner.join('\n')
      const rowCount = inner.length
      return { text: quote === '"' ? text.replaceAll('\\n', '\n') : text, rowCount }
    }
  }
  return { text: beforeNextSetting(first), rowCount: 1, mistake: 'quote' }
}

const whatIsWrong: Readonly<Record<Mistake, string>> = {
  line: 'text that is not an assignment',
  quote: 'a quote that is not closed, or text after a closing quote,',
  hash: 'a value that begins with #, like a comment,',
  second: 'a second setting after a value',
}

const linesMax = 8

/** One problem of all lines with the same mistake. */
function problemOf(alike: readonly Found[]): SettingProblem {
  const [{ mistake }] = alike as [Found]
  const lines = alike.slice(0, linesMax).map(({ line }) => line)
  const named = alike.length > linesMax ? [...lines, '…'] : lines
  return {
    setting: '.env',
    problem: `has ${whatIsWrong[mistake]} in ${alike.length === 1 ? 'line' : 'lines'} ${named.join(', ')}.`,
    given: 'text that is not shown, because it may be a secret',
    expected: 'NAME=value, a comment that begins with #, or an empty line',
    hint: adviceFor(mistake, alike),
  }
}

function adviceFor(mistake: Mistake, alike: readonly Found[]): string {
  if (mistake === 'second') {
    return 'Write each setting on its own line. If the text is a part of the value, put the value between quotes.'
  }
  if (mistake === 'hash') {
    return 'Put the value between quotes, as in PAGE_ACCENT="#0a7a4b". For a comment, write a space after the #.'
  }
  const isAnyLike = (form: RegExp) => alike.some(({ row }) => form.test(row))
  if (isAnyLike(/^\s*["{}]|=\s*"?\s*\{/)) {
    return "Put the whole JSON key between single quotes: SHEETS_PRIVATE_KEY='{…}'; or save it as a file and set SHEETS_CREDENTIALS_FILE to its path."
  }
  if (isAnyLike(/-----|^[\w+/=]{40,}$/)) {
    return 'Write SHEETS_PRIVATE_KEY="…" with the key between the double quotes, where it may have several lines.'
  }
  return 'Write NAME=value with an equals sign, close every quote, and begin comments with #.'
}
