import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { expect, test } from 'vitest'
import { projectRoot } from '../harness/source-file.ts'
import { settingNames } from '../src/config/settings.ts'
import { generated } from './configuration-docs.ts'

const files = await generated()

test('docs/configuration.md, .env.example and config.schema.json are as the settings say', async () => {
  for (const [path, content] of files) {
    const present = await readFile(join(projectRoot, path), 'utf8')
    expect(present, `${path}: run node scripts/configuration-docs.ts`).toBe(content)
  }
})

test('the page names every setting, and .env.example exactly these', async () => {
  const page = files.get('docs/configuration.md') ?? ''
  const namesInPage = [...page.matchAll(/^\| `([A-Z_]+)`/gm)].map((match) => match[1])
  expect(namesInPage.toSorted()).toEqual(settingNames.toSorted())

  const example = files.get('.env.example') ?? ''
  expect(parseEnv(example)).toEqual({})
  const uncommented = parseEnv(example.replace(/^#(?=[A-Z_]+=)/gm, ''))
  expect(Object.keys(uncommented).toSorted()).toEqual(settingNames.toSorted())
})
