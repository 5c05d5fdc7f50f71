// @module-tag slow
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect, test } from 'vitest'
import { projectRoot } from '../../harness/source-file.ts'
import { fileKind, siteKind } from '../../src/config/sites/site-schema.ts'

const textOf = (path: string) => readFileSync(join(projectRoot, path), 'utf8')
const schema = JSON.parse(textOf('config.schema.json')) as object
const isValid = new Ajv2020({ strict: false }).compile(schema)

/** The files of sites that a page shows. */
function filesIn(path: string): readonly object[] {
  const blocks = textOf(path).matchAll(/^ *```json(?: config)?\n([^]*?)^ *```$/gm)
  return Array.from(blocks, ([, json = '']) => JSON.parse(json) as object)
}

test.each(['docs/sites.md', 'docs/forms.md'])(
  'the files in %s are right, and so does the schema say',
  (path) => {
    const files = filesIn(path)
    expect(files).not.toEqual([])
    for (const file of files) {
      const problems: string[] = []
      fileKind.parse(file, ({ problem }, ...path) => {
        problems.push([...path, problem].join(' '))
      })
      expect(problems).toEqual([])
      expect({ file, valid: isValid(file), errors: isValid.errors }).toMatchObject({ valid: true })
    }
  },
)

test('the schema refuses what the validation refuses', () => {
  for (const wrong of [
    ...[{}, { sites: {} }, { sites: { Launch: {} } }, { sites: { a: { tab: 'x' } } }],
    ...[{ sites: { a: { maxTabs: -1 } } }, { sites: { a: { duplicates: 'skip' } } }],
    { sites: { a: { challenge: { siteKey: 'x', secretKeyVariable: 'SECRET' } } } },
    { sites: { a: { fields: [{ name: '1' }] } } },
    { sites: { a: { fields: [{ name: 'x', type: 'choice' }] } } },
  ]) {
    expect({ wrong, isValid: isValid(wrong) }).toEqual({ wrong, isValid: false })
  }
})

test('docs/sites.md has every key of a site and of its page', () => {
  const page = textOf('docs/sites.md')
  const propertiesOf = (it: unknown) => (it as { readonly properties: object }).properties
  const site = propertiesOf(siteKind.schema) as Readonly<Record<string, unknown>>
  const parts = ['page', 'challenge', 'spam', 'mail'].map((key) => propertiesOf(site[key]))
  const keys = [site, ...parts].flatMap((it) => Object.keys(it))
  const missing = keys.filter((key) => !page.includes(`\`${key}\``))
  expect(missing).toEqual([])
})
