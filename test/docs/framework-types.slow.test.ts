// @module-tag slow
import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import ts from 'typescript'
import { expect, test } from 'vitest'
import { eventNames } from '../../browser/events.ts'
import { optionGroups, simpleOptions } from '../../browser/options.ts'
import { projectRoot } from '../../harness/source-file.ts'

const folder = join(projectRoot, 'examples/types')

/** The types for page authors, as sources, because the compiler does not look for mistakes in `.d.ts`. */
const types = Object.fromEntries(
  readdirSync(folder).map((name) => [
    name.replace('.d.ts', '.ts'),
    readFileSync(join(folder, name), 'utf8'),
  ]),
)

/** Every attribute of the element, each with a value of its own kind. */
const attributes = [
  ...simpleOptions.split('|').map((name) => [name, name === 'theme' ? 'dark' : 'true']),
  ...optionGroups.split('|').map((group) => [`${group}-any`, 'any']),
].map(([name = '', value = '']) => ({ name, value }))

const listener = '(event) => event.detail'
const events = eventNames.map((name) => ({ name: `onrollcall:${name}`, value: listener }))

/** Props as a framework's compiler checks them, where a name that is not in the types is an error. */
const props = (given: readonly { readonly name: string; readonly value: string }[]) =>
  `{ ${given.map(({ name, value }) => `'${name}': ${value === listener ? value : `'${value}'`}`).join(', ')} }`

const frameworks = {
  react: (given: typeof attributes) => {
    const written = given.map(({ name, value }) =>
      value === listener ? `${name}={${value}}` : `${name}="${value}"`,
    )
    return `export const used = <rollcall-form ${written.join(' ')} />`
  },
  vue: (given: typeof attributes) => `
    import type { GlobalComponents } from 'vue'
    type Props = InstanceType<GlobalComponents['rollcall-form']>['$props']
    export const used: Props = ${props(given).replaceAll('onrollcall', 'onRollcall')}`,
  svelte: (given: typeof attributes) => `
    import type { SvelteHTMLElements } from 'svelte/elements'
    export const used: SvelteHTMLElements['rollcall-form'] = ${props(given)}`,
}

const component = readFileSync(join(projectRoot, 'examples/components/Signup.jsx'), 'utf8')

const slips = [
  { name: 'tabs', value: 'News' },
  { name: 'theme', value: 'drak' },
  { name: 'onrollcall:done', value: listener },
]

test.each(['react', 'vue', 'svelte'] as const)(
  'the types for %s have every attribute and every event of the element, and find wrong ones',
  (framework) => {
    const write = frameworks[framework]
    const slipped: Record<string, string> = {}
    for (const slip of slips) slipped[`${slip.name.replace(/.*:/, '')}.tsx`] = write([slip])
    const errors = typeErrors({
      ...typesOf('rollcall-form.ts', `rollcall-${framework}.ts`),
      'every.tsx': write([...attributes, ...events]),
      ...(framework === 'react' && { 'signup.jsx': component }),
      ...slipped,
    })
    expect(errors).toEqual([
      expect.stringMatching(/^done.tsx: [^]*rollcall:done'+ does not exist/i),
      expect.stringMatching(/^tabs.tsx: [^]*'tabs'+ does not exist/),
      expect.stringMatching(/^theme.tsx: [^]*"drak"/),
    ])
  },
)

test('the types of events say what the element tells, and those of scripts have every option', () => {
  const options = attributes.slice(0, simpleOptions.split('|').length)
  const heard = eventNames.map((name) => `addEventListener('rollcall:${name}', ${listener})`)
  const errors = typeErrors({
    ...typesOf('rollcall-form.ts'),
    'events.ts': `
      import type { EventDetails } from '../browser/events.ts'
      import type { RollcallEvents } from './rollcall-form.js'
      type Told = { [Name in keyof EventDetails as \`rollcall:\${Name}\`]: CustomEvent<EventDetails[Name]> }
      export const told = (it: Told): Required<RollcallEvents> => it
      export const known = (it: Record<keyof RollcallEvents, 1>): Record<keyof Told, 1> => it`,
    'script.ts': `
      import './rollcall-form.js'
      window.Rollcall.render(document.body, ${props(options)}).element.reset()
      document.querySelector('rollcall-form')?.reset()
      ${heard.join('\n')}
      addEventListener('rollcall:submit', ({ detail }) => detail.data.append('a', 'b'))`,
    'slip.ts': `
      import './rollcall-form.js'
      window.Rollcall.enhance(document.forms[0], { tabs: 'News' })`,
  })
  expect(errors).toEqual([expect.stringMatching(/^slip.ts: [^]*'tabs' does not exist/)])
})

function typesOf(...names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, types[name] ?? '']))
}

/** The errors of the TypeScript compiler for files that are only in memory. */
function typeErrors(files: Readonly<Record<string, string>>): string[] {
  const texts = new Map(
    Object.entries(files).map(([name, text]) => [join(projectRoot, 'test', name), text]),
  )
  const options: ts.CompilerOptions = {
    strict: true,
    // The component in the guide is JavaScript.
    noImplicitAny: false,
    checkJs: true,
    noEmit: true,
    skipLibCheck: true,
    allowImportingTsExtensions: true,
    jsx: ts.JsxEmit.ReactJSX,
    module: ts.ModuleKind.NodeNext,
    target: ts.ScriptTarget.ESNext,
    types: [],
  }
  const host = ts.createCompilerHost(options)
  const { getSourceFile, fileExists, readFile } = host
  host.fileExists = (path) => texts.has(path) || fileExists(path)
  host.readFile = (path) => texts.get(path) ?? readFile(path)
  host.getSourceFile = (path, target, ...rest) => {
    const text = texts.get(path)
    return text === undefined
      ? getSourceFile(path, target, ...rest)
      : ts.createSourceFile(path, text, target)
  }
  const found = ts.getPreEmitDiagnostics(ts.createProgram([...texts.keys()], options, host))
  return found.map(({ file, messageText }) => {
    const message = ts.flattenDiagnosticMessageText(messageText, '\n')
    return `${basename(file?.fileName ?? '')}: ${message}`
  })
}
