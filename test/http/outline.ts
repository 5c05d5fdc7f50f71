import { HtmlValidate, Parser } from 'html-validate'

type Node = ReturnType<Parser['parseHtml']>['childNodes'][number]

const parser = new Parser(await new HtmlValidate().getConfigFor('page.html'))

/** The DOM of a page, with a line for each element and each text. White space is folded. */
export function outline(html: string): readonly string[] {
  return linesOf(parser.parseHtml(html), 0)
}

function linesOf(node: Node, depth: number): readonly string[] {
  const indent = ' '.repeat(depth)
  if (!('attributes' in node)) {
    const text = node.textContent.replace(/\s+/g, ' ').trim()
    return text === '' ? [] : [`${indent}“${text}”`]
  }
  const { attributes = [], tagName, childNodes } = node as unknown as Element
  const named = attributes.map(({ key, value }) => (value === null ? key : `${key}="${value}"`))
  return [
    `${indent}${[tagName, ...named.sort()].join(' ')}`,
    ...childNodes.flatMap((child) => linesOf(child, depth + 1)),
  ]
}

interface Element {
  readonly tagName: string
  readonly attributes?: readonly { readonly key: string; readonly value: string | null }[]
  readonly childNodes: readonly Node[]
}
