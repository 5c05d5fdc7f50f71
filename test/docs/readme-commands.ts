/**
 * Finds the commands in the documentation that a test runs. In Markdown:
 *
 *     ```sh run
 *     curl http://localhost:3000/api/health
 *     ```
 *
 *     ```json answer
 *     { "status": "ok" }
 *     ```
 *
 * The words after the language do not show on the rendered page.
 */
import { isRecord } from '../../src/signup/json.ts'

export interface DocumentedCommand {
  readonly file: string
  /** The line of the opening fence, from 1. */
  readonly line: number
  readonly script: string
  /** The answer that the page shows: the next block, when it is marked `answer`. */
  readonly answer?: { readonly language: string; readonly text: string }
}

interface Block {
  readonly line: number
  readonly language: string
  readonly mark: string
  readonly text: string
}

/** The blocks marked `run`, each with the block marked `answer` that follows it, if any. */
export function extractCommands(file: string, markdown: string): DocumentedCommand[] {
  const blocks = blocksOf(markdown)
  const lost = blocks.find((it, i) => it.mark === 'answer' && blocks[i - 1]?.mark !== 'run')
  if (lost) {
    throw new Error(
      `${file}:${lost.line} shows an answer, but the block before it is not marked "run"`,
    )
  }
  return blocks.flatMap(({ line, mark, text }, i) => {
    if (mark !== 'run') return []
    const next = blocks[i + 1]
    const answer = next?.mark === 'answer' ? { answer: next } : {}
    return [{ file, line, script: text, ...answer }]
  })
}

function blocksOf(markdown: string): Block[] {
  const fences = /^( *)(`{3,}|~{3,})[ \t]*([^\s`]*)[ \t]*([^\s`]*)[^\n`]*\n([\s\S]*?)^\1\2[ \t]*$/gm
  return [...markdown.matchAll(fences)].map((match) => {
    const [, indent = '', , language = '', mark = '', text = ''] = match
    const line = markdown.slice(0, match.index).split('\n').length
    return { line, language, mark, text: text.replaceAll(new RegExp(`^${indent}`, 'gm'), '') }
  })
}

/** The scripts of the blocks with this mark, in order. */
export function scriptsMarked(mark: string, markdown: string): string[] {
  return blocksOf(markdown)
    .filter((block) => block.mark === mark)
    .map(({ text }) => text)
}

/** What stands below the heading that begins like this. */
export function sectionOf(markdown: string, heading: string): string {
  const section = markdown.split(/^## /m).find((it) => it.startsWith(heading))
  if (section === undefined) throw new Error(`no heading begins with "${heading}"`)
  return section
}

/** Names of the npm scripts that the blocks of shell commands call. */
export function npmScriptsIn(markdown: string): string[] {
  return blocksOf(markdown)
    .filter(({ language }) => /^(sh|bash|shell|console)$/.test(language))
    .flatMap(({ text }) => [
      ...text.matchAll(/\bnpm (?:run (?:-\w+ )*(\w[\w:-]*)|(start|test)\b)/g),
    ])
    .map((match) => match[1] ?? match[2] ?? '')
}

/**
 * The differences between an answer and the one that the page shows. Empty when it fits. Only ids and
 * times may differ, and headers that the page does not show.
 */
export function compareAnswer(language: string, shown: string, actual: string): string[] {
  if (shown.startsWith('HTTP/')) return compareHttp(shown, actual)
  if (language === 'json') return compareJson('answer', parse(shown), parse(actual))
  if (language === 'csv') return compareCsv(shown, actual)
  if (language === 'figures') return compareAnswer('text', wordsOf(shown), wordsOf(actual))
  return isAlike(shown.trim(), actual.trim()) ? [] : [`is ${actual.trim()}, not ${shown.trim()}`]
}

/** The words of a text with figures: numbers are 0, and the bars of charts and the spaces do not count. */
function wordsOf(text: string): string {
  return text
    .replace(/[#-]{2,}/g, '')
    .replace(/\d[\d,.]*\d|\d/g, '0')
    .replace(/ +/g, ' ')
    .replace(/ $/gm, '')
    .replace(/^[0 ]*$/gm, '')
}

/** Compares an answer as `curl -i` prints it: the status, the headers that are shown, and the body. */
function compareHttp(shown: string, actual: string): string[] {
  const [want, got] = [splitHttp(shown), splitHttp(actual)]
  const wrong = [...want.headers].filter(([name, value]) => !isAlike(value, got.headers.get(name)))
  const body = want.body === '' ? [] : compareAnswer(looksLikeJson(want.body), want.body, got.body)
  return [
    ...(want.status === got.status ? [] : [`status is ${got.status}, not ${want.status}`]),
    ...wrong.map(([name]) => `header ${name} is ${got.headers.get(name) ?? 'missing'}`),
    ...body,
  ]
}

function splitHttp(text: string) {
  const [head = '', ...body] = text.replaceAll('\r\n', '\n').split('\n\n')
  const [statusLine = '', ...headers] = head.split('\n')
  const status = /^HTTP\/[\d.]+ (\d{3})/.exec(statusLine)?.[1] ?? 'none (use curl -i)'
  const entries = headers
    .filter((line) => line !== '')
    .map((line): [string, string] => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim()]
    })
  return { status, headers: new Map(entries), body: body.join('\n\n').trim() }
}

function looksLikeJson(text: string): string {
  return /^[[{]/.test(text) ? 'json' : 'text'
}

function compareJson(path: string, shown: unknown, actual: unknown): string[] {
  if (kindOf(shown) !== kindOf(actual)) {
    return [`${path} is ${kindOf(actual)}, not ${kindOf(shown)}`]
  }
  if (Array.isArray(shown) && Array.isArray(actual)) {
    return shown.length === actual.length
      ? shown.flatMap((item, i) => compareJson(`${path}[${i}]`, item, actual[i]))
      : [`${path} has ${actual.length} items, not ${shown.length}`]
  }
  if (!isRecord(shown) || !isRecord(actual)) {
    return isAlike(shown, actual)
      ? []
      : [`${path} is ${JSON.stringify(actual)}, not ${JSON.stringify(shown)}`]
  }
  const keys = [...new Set([...Object.keys(shown), ...Object.keys(actual)])]
  return keys.flatMap((key) => compareJson(`${path}.${key}`, shown[key], actual[key]))
}

/** Compares the header row, the number of rows, and each row. */
function compareCsv(shown: string, actual: string): string[] {
  const rows = (text: string) => text.trim().split(/\r?\n/)
  const [want, got] = [rows(shown), rows(actual)]
  if (want[0] !== got[0]) return [`the header row is ${got[0] ?? ''}, not ${want[0] ?? ''}`]
  if (want.length !== got.length) return [`it has ${got.length} rows, not ${want.length}`]
  return want.flatMap((row, i) =>
    isAlike(row, got[i]) ? [] : [`row ${i + 1} is ${got[i] ?? ''}, not ${row}`],
  )
}

/** Whether two values are the same, ids and times aside. */
function isAlike(one: unknown, other: unknown): boolean {
  return one === other || (typeof one === 'string' && steady(one) === steady(other))
}

/** A text with names for its ids and times. */
function steady(value: unknown): unknown {
  if (typeof value !== 'string') return value
  return value
    .replaceAll(/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, '<id>')
    .replaceAll(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z/g, '<time>')
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function kindOf(value: unknown): string {
  if (value === undefined) return 'missing or not JSON'
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}
