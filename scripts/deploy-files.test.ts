import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { projectRoot } from '../harness/source-file.ts'
import { deployFiles } from './deploy-files.ts'

const read = (path: string) => readFileSync(join(projectRoot, path), 'utf8')

test('the files of deploy/ are as deploy/settings.json says, and there are no others', () => {
  const files = deployFiles()
  const present = globSync('deploy/*/*', { cwd: projectRoot }).map((path) => path.slice(7))
  const made = present.filter((path) => !path.endsWith('README.md'))
  expect(made.toSorted()).toEqual([...files.keys()].toSorted())
  for (const [name, content] of files) {
    expect(read(`deploy/${name}`), `deploy/${name}: run npm run docs:deploy`).toBe(content)
  }
})

const kept = ['restart', 'read_only', 'tmpfs', 'cap_drop', 'security_opt', 'stop_grace_period']

test.each(['coolify/rollcall.yaml', 'dokploy/docker-compose.yml'])(
  '%s runs the container as compose.yaml does, with its journal in a volume',
  (name) => {
    const ours = serviceOf(read('compose.yaml'))
    const theirs = serviceOf(deployFiles().get(name))
    for (const key of kept) expect(theirs[key], key).toEqual(ours[key])
    expect(theirs['volumes']).toEqual(['rollcall:/data'])
    expect(ours['volumes']).toEqual(['data:/data'])
  },
)

test('the file for CapRover keeps the rules of its catalogue', () => {
  const { caproverOneClickApp: app } = parse(deployFiles().get('caprover/rollcall.yml') ?? '') as {
    readonly caproverOneClickApp: {
      readonly description: string
      readonly instructions: object
      readonly variables: readonly { readonly id: string }[]
    }
  }
  expect(app.description.length).toBeLessThanOrEqual(200)
  expect(Object.keys(app.instructions)).toEqual(['start', 'end'])
  expect(app.variables.map(({ id }) => id)).toContain('$$cap_app_version')
})

test('the Dockerfile for Railway is ours without the volume that Railway refuses', () => {
  const made = deployFiles().get('railway/Dockerfile') ?? ''
  expect(made).not.toContain('VOLUME')
  const ours = read('Dockerfile').split('\n')
  expect(made.split('\n').slice(1)).toEqual(ours.filter((line) => line !== 'VOLUME /data'))
})

function serviceOf(compose = ''): Readonly<Record<string, unknown>> {
  const { services } = parse(compose) as { services: { rollcall: Record<string, unknown> } }
  return services.rollcall
}
