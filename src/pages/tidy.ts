/** Elements without an end. */
const voids: ReadonlySet<string> = new Set(['meta', 'link', 'img', 'input', 'path'])

/** A tag, whatever stands in the quotes of its attributes; or the text up to the next one. */
const pieces = /<(?:[^>"]|"[^"]*")*>|[^<]+/g
const space = /[ \t\r\n]+/g

/** Elements whose content stays in their line, as a space more or less in it would show. */
const inLine: ReadonlySet<string> = new Set([
  ...['title', 'h1', 'p', 'li', 'label', 'button', 'span', 'a', 'b', 'strong', 'script'],
])

/**
 * The HTML of a page, as templates give it, a line for each element and indented by depth. Text and
 * attributes stay as they are, but for space around them that browsers ignore. Takes time in
 * proportion to the page.
 */
export function tidy(html: string): string {
  const lines: string[] = []
  const open: string[] = []
  let line = ''
  /** How many elements are open in this line. */
  let depthInLine = 0
  const flush = (depth: number) => {
    const text = line.trim()
    if (text !== '') lines.push('  '.repeat(depth) + text)
    line = ''
  }
  for (const [piece] of html.matchAll(pieces)) {
    const name = /^<\/?([a-z0-9]+)/i.exec(piece)?.[1]?.toLowerCase()
    if (name === undefined && !piece.startsWith('<')) {
      line += piece.replace(space, ' ')
      continue
    }
    const tag = withSingleSpaces(piece)
    const isEnd = piece.startsWith('</')
    const isVoid = name === undefined || voids.has(name)
    if (depthInLine > 0) {
      line += tag
      if (!isVoid) depthInLine += isEnd ? -1 : 1
      if (depthInLine === 0) flush(open.length)
      continue
    }
    flush(open.length)
    line = tag
    if (isEnd) open.pop()
    if (name !== undefined && !isEnd && inLine.has(name)) depthInLine = 1
    else flush(open.length)
    if (!isEnd && !isVoid && depthInLine === 0) open.push(name)
  }
  flush(open.length)
  return `${lines.join('\n')}\n`
}

/** Between attributes; what is in quotes stays. */
function withSingleSpaces(tag: string): string {
  const spaced = tag.replace(/"[^"]*"|[ \t\r\n]+/g, (part) => (part.startsWith('"') ? part : ' '))
  return spaced.replace(/ >$/, '>')
}
