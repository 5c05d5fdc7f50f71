import { isBuiltin } from 'node:module'
import { posix } from 'node:path'
import ts from 'typescript'
import { find, importsOf, isTest, nodesOf } from '../../harness/source-file.ts'
import type { Finding, Import, SourceFile } from '../../harness/source-file.ts'

/**
 * Who may import whom in `src/`, by the longest path that fits. `types` may be imported as types
 * only. A folder always may import from itself. Tests are free.
 */
const mayImport: Record<string, { readonly values: string[]; readonly types?: string[] }> = {
  'start.js': { values: ['main.ts'] },
  'main.ts': { values: ['cli'] },
  service: { values: [''] },
  cli: { values: [''] },
  client: { values: [], types: ['signup/wire.ts'] },
  signup: { values: [] },
  platform: { values: [] },
  config: { values: ['signup', 'platform'], types: ['ops'] },
  ops: { values: ['signup', 'platform'] },
  http: {
    values: [
      'signup',
      'journal/intake-log.ts',
      'journal/unavailable.ts',
      'platform',
      'intake',
      'pages',
    ],
    types: ['ops'],
  },
  intake: {
    values: [
      'http',
      'pages',
      'signup',
      'challenge/challenge.ts',
      'journal/intake-log.ts',
      'journal/unavailable.ts',
      'platform',
    ],
    types: ['ops'],
  },
  pages: {
    values: [
      'http',
      'intake',
      'signup',
      'challenge/challenge.ts',
      'journal/intake-log.ts',
      'journal/unavailable.ts',
      'platform',
    ],
    types: ['ops'],
  },
  api: {
    values: [
      'http',
      'pages',
      'intake',
      'signup',
      'journal/reader.ts',
      'journal/unavailable.ts',
      'platform',
    ],
    types: ['ops'],
  },
  challenge: { values: ['signup', 'platform'], types: ['ops'] },
  journal: { values: ['signup', 'platform'], types: ['ops'] },
  delivery: {
    values: [
      'signup',
      'journal/delivery-log.ts',
      'journal/call-ledger.ts',
      'journal/unavailable.ts',
      'spreadsheet/spreadsheet.ts',
      'platform',
    ],
    types: ['ops'],
  },
  spreadsheet: { values: ['signup', 'platform'] },
  'spreadsheet/google': {
    values: ['signup', 'spreadsheet/spreadsheet.ts', 'spreadsheet/header.ts', 'platform'],
    types: ['ops'],
  },
  'spreadsheet/workbook': {
    values: ['signup', 'spreadsheet/spreadsheet.ts', 'spreadsheet/header.ts', 'platform'],
    types: ['ops'],
  },
}

/** These import a concrete thing that even those who may import anything must not. */
const mayNotImport: Record<string, string[]> = {
  service: ['cli', 'main.ts'],
  cli: ['main.ts'],
}

/** Written for the web's standard APIs, so that they run on edge runtimes too. */
const webStandardFolders = [
  'client',
  'http',
  'intake',
  'pages',
  'api',
  'challenge',
  'signup',
  'delivery',
  'spreadsheet/google',
]
const webStandardPackages = ['hono', 'jose', 'uuid', 'zod']
const nodeGlobals = ['Buffer', 'process', 'global', 'require', '__dirname', '__filename']

export function checkImportRules(file: SourceFile): Finding[] {
  const path = inSrc(file.path)
  if (path === undefined || isTest(file)) return []
  const room = longestFit(path, Object.keys(mayImport))
  if (room === undefined) {
    return [find(file, 0, `no import rule for this place: add it to ${import.meta.filename}`)]
  }
  return importsOf(file).flatMap((found) => {
    if (!found.specifier.startsWith('.')) return []
    const target = inSrc(posix.join(posix.dirname(file.path), found.specifier))
    const allowed = target !== undefined && !target.endsWith('.test.ts')
    return allowed && mayTake(room, target, found)
      ? []
      : [
          find(
            file,
            found.node,
            `${room} may not import ${found.specifier}: see "Who may import whom"`,
          ),
        ]
  })
}

function mayTake(room: string, target: string, found: Import): boolean {
  const targetRoom = longestFit(target, Object.keys(mayImport))
  if (mayNotImport[room]?.some((path) => fits(target, path))) return false
  const { values, types = [] } = mayImport[room] ?? { values: [] }
  const listed = found.typeOnly ? [...values, ...types] : values
  return targetRoom === room || listed.some((path) => fits(target, path))
}

export function checkWebStandard(file: SourceFile): Finding[] {
  const path = inSrc(file.path)
  if (path === undefined || isTest(file)) return []
  const folder = longestFit(path, webStandardFolders)
  if (folder === undefined) return []
  const foreign = importsOf(file).filter(
    ({ specifier, typeOnly }) =>
      isBuiltin(specifier) ||
      (!specifier.startsWith('.') &&
        !typeOnly &&
        !webStandardPackages.includes(packageOf(specifier))),
  )
  const globals = nodesOf(file).filter(
    (node) => ts.isIdentifier(node) && nodeGlobals.includes(node.text) && isReference(node),
  )
  return [
    ...foreign.map(({ specifier, node }) =>
      find(
        file,
        node,
        `${folder} runs on the web's own APIs: "${specifier}" needs Node, move it to platform or service`,
      ),
    ),
    ...globals.map((node) =>
      find(
        file,
        node,
        `${folder} runs on the web's own APIs: "${node.getText()}" is Node's (Uint8Array, TextEncoder, or pass it in)`,
      ),
    ),
  ]
}

/** Files that import each other in a circle, type imports included. */
export function checkCycles(files: readonly SourceFile[]): Finding[] {
  const graph = new Map(files.map((file) => [file.path, targetsOf(file)]))
  const done = new Set<string>()
  const findings: Finding[] = []
  const visit = (path: string, trail: readonly string[]): void => {
    const start = trail.indexOf(path)
    if (start >= 0) {
      const circle = [...trail.slice(start), path].join(' → ')
      findings.push({ path, line: 1, message: `imports itself in a circle: ${circle}` })
      return
    }
    if (done.has(path)) return
    for (const target of graph.get(path) ?? []) visit(target, [...trail, path])
    done.add(path)
  }
  for (const path of graph.keys()) visit(path, [])
  return findings
}

function targetsOf(file: SourceFile): string[] {
  return importsOf(file)
    .filter(({ specifier }) => specifier.startsWith('.'))
    .map(({ specifier }) => posix.join(posix.dirname(file.path), specifier))
}

/** The global of that name, and not a member or a parameter that is called the same. */
export function isReference(node: ts.Identifier): boolean {
  const { parent } = node
  const isMember =
    (ts.isPropertyAccessExpression(parent) && parent.name === node) ||
    (ts.isQualifiedName(parent) && parent.right === node)
  const isKey = ts.isPropertyAssignment(parent) && parent.name === node
  const isDeclared =
    ts.isTypeElement(parent) ||
    ts.isClassElement(parent) ||
    ts.isBindingElement(parent) ||
    ts.isParameter(parent)
  return !isMember && !isKey && !isDeclared && !isParameter(node)
}

function isParameter(node: ts.Identifier): boolean {
  const around = ts.findAncestor(node.parent, (it) => {
    return ts.isFunctionLike(it) && it.parameters.some(({ name }) => binds(name, node.text))
  })
  return around !== undefined
}

function binds(name: ts.BindingName, text: string): boolean {
  if (ts.isIdentifier(name)) return name.text === text
  return name.elements.some((it) => ts.isBindingElement(it) && binds(it.name, text))
}

function inSrc(path: string): string | undefined {
  return path.startsWith('src/') ? path.slice('src/'.length) : undefined
}

function fits(path: string, prefix: string): boolean {
  return prefix === '' || path === prefix || path.startsWith(`${prefix}/`)
}

function longestFit(path: string, prefixes: readonly string[]): string | undefined {
  return prefixes
    .filter((prefix) => fits(path, prefix))
    .sort((a, b) => b.length - a.length)
    .at(0)
}

function packageOf(specifier: string): string {
  return specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/')
}
