import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { projectRoot } from '../../harness/source-file.ts'

/** The paths that git would ignore. */
function ignored(paths: readonly string[]): readonly string[] {
  const args = ['check-ignore', '--no-index', '--stdin']
  const { stdout } = spawnSync('git', args, { cwd: projectRoot, input: paths.join('\n') })
  return stdout.toString().split('\n').slice(0, -1)
}

const secrets = [
  '.env',
  '.env.local',
  '.env.production',
  'service-account.json',
  'service-account-prod.json',
  'config/service-account.json',
  'credentials.json',
  'credentials-rollcall.json',
  'google-key.json',
  'my_key.json',
  'key.json',
  'my-project-0a1b2c3d4e5f.json',
  'key.pem',
  'my-project.p12',
  'rollcall.json',
]
/** As the examples of the documents name them, and as commands name what they write besides. */
const people = [
  'rollcall.backup',
  'rollcall-2026-11-20.backup',
  'backups/rollcall.backup.partial',
  'list.csv',
  'list.csv.rejected.csv',
  'lists/list.csv.rejected-2.csv',
  'signups.xlsx',
  'people.ndjson',
]

test('git ignores files that may have keys or the addresses of people', () => {
  expect(ignored([...secrets, ...people])).toEqual([...secrets, ...people])
})

test('Docker gets only the sources that are named, and none of them is a secret', () => {
  const text = readFileSync(join(projectRoot, '.dockerignore'), 'utf8')
  const [all, ...others] = text.split('\n').filter((line) => /^[^#]/.test(line))
  const named = others.filter((line) => line.startsWith('!')).map((line) => line.slice(1))
  expect([all, ignored(named)]).toEqual(['*', []])
  expect(others).toContain('**/.env*')
  expect(named.filter((it) => !/^(src|browser|[\w/.-]+\.js(on)?)$/.test(it))).toEqual([])
})

test('git does not ignore files of the project', () => {
  expect(ignored(['.env.example', 'package.json', 'tsconfig.json', 'src/main.ts'])).toEqual([])
})
