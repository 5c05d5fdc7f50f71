import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { projectRoot } from '../../harness/source-file.ts'

/** Which of these paths git would leave out. */
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
]

test('files that hold keys are never committed by accident', () => {
  expect(ignored(secrets)).toEqual(secrets)
})

test('files of the project are not left out', () => {
  expect(ignored(['.env.example', 'package.json', 'tsconfig.json', 'src/main.ts'])).toEqual([])
})
