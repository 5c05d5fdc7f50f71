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
 * What of an answer has to be as the page shows it: all but ids and times, the numbers and bars in figures, and
 * headers that the page does not show.
 *
 * @param shown the answer on the page
 */
export function essence(language: string, text: string, shown = text): unknown {
  const steady = text
    .replaceAll(/\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, '<id>')
    .replaceAll(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z/g, '<time>')
    .replaceAll('\r\n', '\n')
    .trim()
  if (language === 'figures') return wordsOf(steady)
  if (!steady.startsWith('HTTP/')) return language === 'json' ? parse(steady) : steady
  const [head = '', ...body] = steady.split('\n\n')
  const headers = headersOf(head)
  const names = Object.keys(headersOf(shown.split(/\r?\n\r?\n/)[0] ?? ''))
  return {
    status: /^HTTP\/[\d.]+ (\d{3})/.exec(head)?.[1],
    headers: Object.fromEntries(names.map((name) => [name, headers[name]])),
    body: /\n\r?\n./.test(shown) && parse(body.join('\n\n')),
  }
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

function headersOf(head: string): Record<string, string> {
  const lines = head.split(/\r?\n/).slice(1)
  return Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
    }),
  )
}

/** The value of JSON, or the text that is none. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
