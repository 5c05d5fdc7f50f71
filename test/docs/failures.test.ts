import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { expect, test } from 'vitest'

import { projectRoot } from '../../harness/source-file.ts'

const page = readFileSync(join(projectRoot, 'docs/failures.md'), 'utf8')

/** The tests that stand in the notes at the end of the page, by the name of their note. */
const notes = new Map(
  [...page.matchAll(/^\[\^(.+?)\]: (.+)$/gm)].map(([, name = '', tests = '']) => {
    return [name, [...tests.matchAll(/`([^`]+)`/g)].map(([, title = '']) => title)]
  }),
)

test('every test that docs/failures.md names exists', () => {
  const patterns = testTitles()
  const named = [...notes.values()].flat()
  const missing = named.filter((title) => !patterns.some((pattern) => pattern.test(title)))
  expect(missing).toEqual([])
})

test('every failure in docs/failures.md has an answer of up to six lines and a note that names a test', () => {
  const failures = page.split(/^(?=###? )/m).filter((part) => part.startsWith('### '))
  expect(failures.length).toBeGreaterThan(50)
  const named = failures.map((failure) => {
    const [title, , ...answer] = failure.split('\n[^')[0]?.trim().split('\n') ?? []
    expect(answer.length, title).toBeGreaterThan(0)
    expect(answer.length, title).toBeLessThanOrEqual(6)
    const [, note = 'no note'] = /\[\^(.+?)\]$/.exec(answer.at(-1) ?? '') ?? []
    expect(notes.get(note) ?? [], title).not.toEqual([])
    return note
  })
  expect(named.toSorted()).toEqual([...notes.keys()].toSorted())
})

/** Patterns of the titles of all tests. A placeholder in a title matches any text. */
function testTitles(): RegExp[] {
  const files =
    '{src,browser,test,harness,emulators,scripts,bench}/**/*{.test,-contract,-crashes}.ts'
  return globSync(files, { cwd: projectRoot }).flatMap((path) => {
    const text = readFileSync(join(projectRoot, path), 'utf8')
    return titlesIn(ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true))
  })
}

function titlesIn(node: ts.Node): RegExp[] {
  const title = ts.isCallExpression(node) ? node.arguments[0] : titleProperty(node)
  const titles = title ? titlePattern(title) : []
  ts.forEachChild(node, (child) => void titles.push(...titlesIn(child)))
  return titles
}

/** The title of a test in a list, as contract suites have them. */
function titleProperty(node: ts.Node): ts.Expression | undefined {
  const isTitle = ts.isPropertyAssignment(node) && node.name.getText() === 'title'
  return isTitle ? node.initializer : undefined
}

function titlePattern(title: ts.Expression): RegExp[] {
  const parts = ts.isStringLiteralLike(title)
    ? title.text.split(/\$\w+|%[a-z]/)
    : ts.isTemplateExpression(title)
      ? [title.head.text, ...title.templateSpans.map(({ literal }) => literal.text)]
      : []
  // Titles have at least four words. Other calls with a shorter text are left out.
  if (parts.join('').split(' ').length < 4) return []
  return [new RegExp(`^${parts.map(RegExp.escape).join('.+')}$`)]
}
