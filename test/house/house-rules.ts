import ts from 'typescript'
import { isReference } from './house-rules-imports.ts'
import { find, isTest, nodesOf } from '../../harness/source-file.ts'
import type { Finding, SourceFile } from '../../harness/source-file.ts'

const functionLinesMax = 70

interface ConfinedCall {
  readonly name: string
  /** The only file of `src/` that may do it; absent: none. */
  readonly home?: string
  /** A second one, which runs elsewhere than the service. */
  readonly alsoIn?: string
  readonly instead: string
  readonly matches: (node: ts.Node) => boolean
}

const confinedCalls: readonly ConfinedCall[] = [
  {
    name: 'process.env',
    home: 'src/config/env.ts',
    instead: 'take the setting from config, through the options you are given',
    matches: (node) => isMember(node, 'process', 'env') || isImported(node, 'process', ['env']),
  },
  {
    name: 'calls over HTTP',
    home: 'src/platform/node/http-client.ts',
    alsoIn: 'src/client/client.ts',
    instead: 'use the HTTP client of platform/node/http-client.ts',
    matches: (node) =>
      isGlobal(node, 'fetch') ||
      isMember(node, 'globalThis', 'fetch') ||
      isImported(node, 'http', ['request', 'get', 'Agent']) ||
      isImported(node, 'https', ['request', 'get', 'Agent']),
  },
  {
    name: 'the current time',
    home: 'src/platform/clock.ts',
    instead: 'use the Clock you are given: clock.now(), clock.elapsed()',
    matches: (node) =>
      isMember(node, 'Date', 'now') ||
      isMember(node, 'performance', 'now') ||
      (ts.isNewExpression(node) && isGlobal(node.expression, 'Date') && !node.arguments?.length) ||
      (ts.isCallExpression(node) && isGlobal(node.expression, 'Date')),
  },
  {
    name: 'console',
    instead: 'use the log or the output stream you are given',
    matches: (node) => isGlobal(node, 'console'),
  },
  {
    name: 'process.exit',
    instead: 'set process.exitCode, and let the process end because nothing is left to do',
    matches: (node) => isMember(node, 'process', 'exit') || isImported(node, 'process', ['exit']),
  },
  {
    name: 'fsync',
    home: 'src/platform/node/durable-file.ts',
    instead: 'use platform/node/durable-file.ts',
    matches: isFsync,
  },
]

export function checkConfinedCalls(file: SourceFile): Finding[] {
  if (!file.path.startsWith('src/') || isTest(file)) return []
  const confined = confinedCalls.filter(
    ({ home, alsoIn }) => home !== file.path && alsoIn !== file.path,
  )
  return nodesOf(file).flatMap((node) =>
    confined
      .filter((call) => call.matches(node))
      .map((call) => {
        const where = call.home === undefined ? 'nowhere in src/' : `only in ${call.home}`
        return find(file, node, `${call.name} belongs ${where}: ${call.instead}`)
      }),
  )
}

function isGlobal(node: ts.Node, name: string): boolean {
  return ts.isIdentifier(node) && node.text === name && isReference(node)
}

/** `object.member`, `object['member']` and `const { member } = object`. */
function isMember(node: ts.Node, object: string, member: string): boolean {
  if (ts.isPropertyAccessExpression(node)) {
    return isGlobal(node.expression, object) && node.name.text === member
  }
  if (ts.isElementAccessExpression(node)) {
    const key = node.argumentExpression
    return isGlobal(node.expression, object) && ts.isStringLiteralLike(key) && key.text === member
  }
  if (!ts.isBindingElement(node)) return false
  const taken = (node.propertyName ?? node.name).getText()
  const declaration = node.parent.parent
  const source = ts.isVariableDeclaration(declaration) ? declaration.initializer : undefined
  return source !== undefined && isGlobal(source, object) && taken === member
}

/** `import { name } from 'module'`, with or without `node:`. */
function isImported(node: ts.Node, module: string, names: readonly string[]): boolean {
  if (!ts.isImportSpecifier(node)) return false
  const from = node.parent.parent.parent.moduleSpecifier
  const name = (node.propertyName ?? node.name).text
  return (
    ts.isStringLiteral(from) && from.text.replace(/^node:/, '') === module && names.includes(name)
  )
}

function isFsync(node: ts.Node): boolean {
  if (ts.isIdentifier(node)) return /^f(data)?sync(Sync)?$/.test(node.text)
  if (!ts.isCallExpression(node) || node.arguments.length > 0) return false
  const { expression } = node
  return ts.isPropertyAccessExpression(expression) && /^(data)?sync$/.test(expression.name.text)
}

export function checkNoDefaultExport(file: SourceFile): Finding[] {
  if (!file.path.startsWith('src/')) return []
  return nodesOf(file)
    .filter(
      (node) =>
        ts.isExportAssignment(node) ||
        (node.kind === ts.SyntaxKind.DefaultKeyword && ts.isStatement(node.parent)) ||
        (ts.isExportSpecifier(node) && node.name.text === 'default'),
    )
    .map((node) => find(file, node, 'a default export: export it by its name'))
}

/** A barrel only hands on what other files export: importers should name those files. */
export function checkNoBarrel(file: SourceFile): Finding[] {
  const { statements } = file.tree
  const handsOn = (node: ts.Statement) => ts.isExportDeclaration(node) && !!node.moduleSpecifier
  const isBarrel =
    statements.some(handsOn) &&
    statements.every((node) => handsOn(node) || ts.isImportDeclaration(node))
  const handsOnAll = statements.some(
    (node) => ts.isExportDeclaration(node) && handsOn(node) && !node.exportClause,
  )
  return isBarrel || handsOnAll
    ? [find(file, 0, 'a barrel file: import from the files that hold the code')]
    : []
}

/** A function that only holds tests, as the body of `describe`, may be longer. */
export function checkFunctionLength(file: SourceFile): Finding[] {
  return nodesOf(file).flatMap((node) => {
    if (!ts.isFunctionLike(node) || holdsTests(node)) return []
    const first = file.tree.getLineAndCharacterOfPosition(node.getStart(file.tree)).line
    const last = file.tree.getLineAndCharacterOfPosition(node.end).line
    const lines = last - first + 1
    const message = `a function of ${lines} lines, over ${functionLinesMax}: give its parts names`
    return lines > functionLinesMax ? [find(file, node, message)] : []
  })
}

function holdsTests(node: ts.SignatureDeclaration): boolean {
  const body = 'body' in node ? node.body : undefined
  if (body === undefined || !ts.isBlock(body)) return false
  return body.statements.some((it) => ts.isExpressionStatement(it) && isTestCall(it.expression))
}

export function checkNames(file: SourceFile): Finding[] {
  const parts = file.path.split('/')
  const banned = parts
    .slice(0, -1)
    .filter((part) => /^(utils?|helpers?|services|common)$/.test(part))
  const kebab = /^[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9]+)*$/
  return [
    ...banned.map((part) =>
      find(file, 0, `a folder named ${part}: name it after what it is about in the domain`),
    ),
    ...parts
      .filter((part) => !kebab.test(part))
      .map((part) => find(file, 0, `"${part}" is not in kebab-case: rename it`)),
  ]
}

/** Written in halves, so that this file passes its own rule. */
const unfinishedWord = new RegExp(
  `\\b(${['TO' + 'DO', 'FIX' + 'ME', 'X' + 'XX'].join('|')})\\b`,
  'g',
)

export function checkNothingUnfinished(file: SourceFile): Finding[] {
  return [...file.tree.text.matchAll(unfinishedWord)].map((match) =>
    find(file, match.index, `${match[0]}: do it now, or file an issue`),
  )
}

const testFunctions = /^(test|it|describe|suite)$/

export function checkNoSkippedTests(file: SourceFile): Finding[] {
  if (!isTest(file)) return []
  return nodesOf(file)
    .filter(ts.isPropertyAccessExpression)
    .filter((node) => /^(skip|only|todo|fails)$/.test(node.name.text))
    .filter((node) => testFunctions.test(rootName(node)))
    .map((node) => find(file, node, `${node.getText()}: every test runs, mend or delete it`))
}

/** Titles, with those of the `describe` blocks around them, are unique in a file. */
export function checkTestTitles(file: SourceFile): Finding[] {
  if (!isTest(file)) return []
  const seen = new Set<string>()
  return nodesOf(file).flatMap((node) => {
    const title = titleOf(node)
    if (title === undefined) return []
    const full = [...titlesAround(node), title].join(' > ')
    if (!seen.has(full)) {
      seen.add(full)
      return []
    }
    return [find(file, node, `a second test named "${full}": say what is different about it`)]
  })
}

function titlesAround(node: ts.Node): string[] {
  const titles: string[] = []
  for (let at = node.parent as ts.Node | undefined; at; at = at.parent as ts.Node | undefined) {
    titles.unshift(titleOf(at) ?? '')
  }
  return titles.filter((title) => title !== '')
}

function titleOf(node: ts.Node): string | undefined {
  const [title] = isTestCall(node) ? node.arguments : []
  return title && ts.isStringLiteralLike(title) ? title.text : undefined
}

/** `test(…)`, `describe.each(…)(…)` and the like. */
function isTestCall(node: ts.Node): node is ts.CallExpression {
  return ts.isCallExpression(node) && testFunctions.test(rootName(node.expression))
}

/** Of `test.each(cases)`, that is `test`. */
function rootName(node: ts.Expression): string {
  return node.getText().split(/[.(]/)[0] ?? ''
}

/** Each dependency has its line in docs/decisions/dependencies.md, and no other has. */
export function checkDependencyNotes(packageJson: string, notes: string): string[] {
  const { dependencies, optionalDependencies, devDependencies } = JSON.parse(packageJson) as Record<
    'dependencies' | 'optionalDependencies' | 'devDependencies',
    object
  >
  const used = Object.keys({ ...dependencies, ...optionalDependencies, ...devDependencies })
  const noted = [...notes.matchAll(/^\| `([^`]+)` *\|/gm)].map((match) => match[1] ?? '')
  return [
    ...used.filter((name) => !noted.includes(name)).map((name) => `${name} has no line in it`),
    ...noted.filter((name) => !used.includes(name)).map((name) => `${name} is not a dependency`),
  ]
}
