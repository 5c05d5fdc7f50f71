import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'

/** A file of the project as the house rules see it. */
export interface SourceFile {
  /** From the project's root, with forward slashes. */
  readonly path: string
  readonly tree: ts.SourceFile
}

/** Where a rule is broken, and what to do instead. */
export interface Finding {
  readonly path: string
  /** From 1. */
  readonly line: number
  readonly message: string
}

export interface Import {
  readonly specifier: string
  /** Erased before it runs: `import type`. */
  readonly typeOnly: boolean
  readonly node: ts.Node
}

export const projectRoot = join(import.meta.dirname, '..')

const codeFolders = [
  'src',
  'test',
  'harness',
  'emulators',
  'scripts',
  'bench',
  'attack',
  'browser',
  'examples',
]

export function parseSource(path: string, text: string): SourceFile {
  return { path, tree: ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true) }
}

/** Every TypeScript and JavaScript file of ours. */
export function readSources(): SourceFile[] {
  return readdirSync(projectRoot)
    .filter((entry) => codeFolders.includes(entry))
    .flatMap((folder) =>
      readdirSync(join(projectRoot, folder), { recursive: true, encoding: 'utf8' })
        .map((path) => `${folder}/${path.replaceAll('\\', '/')}`)
        .filter((path) => /\.[cm]?[jt]sx?$/.test(path) && !path.includes('/node_modules/')),
    )
    .sort()
    .map((path) => parseSource(path, readFileSync(join(projectRoot, path), 'utf8')))
}

export function isTest(file: SourceFile): boolean {
  return file.path.endsWith('.test.ts')
}

export function find(file: SourceFile, at: ts.Node | number, message: string): Finding {
  const position = typeof at === 'number' ? at : at.getStart(file.tree)
  const line = file.tree.getLineAndCharacterOfPosition(position).line + 1
  return { path: file.path, line, message }
}

export function nodesOf(file: SourceFile): ts.Node[] {
  const nodes: ts.Node[] = []
  const visit = (node: ts.Node): void => {
    nodes.push(node)
    ts.forEachChild(node, visit)
  }
  visit(file.tree)
  return nodes
}

/** Imports of every kind: static, re-exported, `import()` and `import('…').Type`. */
export function importsOf(file: SourceFile): Import[] {
  return nodesOf(file).flatMap((node) => {
    const found = importIn(node)
    return found && ts.isStringLiteralLike(found.from)
      ? [{ specifier: found.from.text, typeOnly: found.typeOnly, node }]
      : []
  })
}

function importIn(node: ts.Node): { from: ts.Node; typeOnly: boolean } | undefined {
  if (ts.isImportDeclaration(node)) {
    return { from: node.moduleSpecifier, typeOnly: isErased(node.importClause) }
  }
  if (ts.isExportDeclaration(node) && node.moduleSpecifier) {
    return { from: node.moduleSpecifier, typeOnly: node.isTypeOnly }
  }
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
    return { from: node.argument.literal, typeOnly: true }
  }
  const [argument] = ts.isCallExpression(node) ? node.arguments : []
  const dynamic = ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword
  return dynamic && argument ? { from: argument, typeOnly: false } : undefined
}

/** `import type { A }` and `import { type A, type B }`. */
function isErased(clause: ts.ImportClause | undefined): boolean {
  if (clause?.phaseModifier === ts.SyntaxKind.TypeKeyword) return true
  const named = clause?.namedBindings
  return (
    clause?.name === undefined &&
    named !== undefined &&
    ts.isNamedImports(named) &&
    named.elements.every((element) => element.isTypeOnly)
  )
}
