import { existsSync, globSync, readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { projectRoot } from '../../harness/source-file.ts'

// The parser imports JSON as a bundler can.
registerHooks({
  resolve(specifier, context, next) {
    const found = next(specifier, context)
    return specifier.endsWith('.json') ? { ...found, importAttributes: { type: 'json' } } : found
  },
})
const { convertWorkflowTemplate, NoOperationTraceWriter, parseWorkflow } =
  await import('@actions/workflow-parser')

const files = globSync('.github/workflows/*.yml', { cwd: projectRoot })

test.each(files)(
  '%s runs actions by their commits, keeps no token, and takes no text of others into a script',
  (file) => {
    const text = readFileSync(join(projectRoot, file), 'utf8')
    const actions = Array.from(text.matchAll(/uses: (\S+@.*)/g), ([, action]) => action)
    expect(actions).not.toEqual([])
    for (const action of actions) expect(action).toMatch(/^[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/)
    const checkouts = text.split(/^ +- /m).filter((step) => step.includes('actions/checkout@'))
    for (const step of checkouts) expect(step).toContain('persist-credentials: false')
    expect(text).not.toContain('pull_request_target')
    expect(text).not.toMatch(/run:.*\$\{\{/)
  },
)

test.each(files)("%s is what GitHub's own parser takes", async (file) => {
  expect(await problemsIn(readFileSync(join(projectRoot, file), 'utf8'))).toEqual([])
})

test.each([
  ['timeout-minutes', 'timeout-minuts', "value 'timeout-minuts'"],
  ['needs: test', 'needs: tset', "unknown job 'tset'"],
  ['contents: read', 'contents: reed', "value 'reed'"],
  ['github.token', 'githb.token', "named-value: 'githb'"],
])('it refuses a release with %s written as %s', async (right, wrong, problem) => {
  const text = readFileSync(join(projectRoot, '.github/workflows/release.yml'), 'utf8')
  const problems = await problemsIn(text.replace(right, wrong))
  expect(problems).toEqual([expect.stringContaining(problem)])
})

async function problemsIn(content: string): Promise<readonly string[]> {
  const { context, value } = parseWorkflow({ name: 'it', content }, new NoOperationTraceWriter())
  // Only this looks at jobs that others need.
  if (value) await convertWorkflowTemplate(context, value)
  return context.errors.getErrors().map(({ message }) => message)
}

test.each(files)('every job of %s ends in time, and may do little', (file) => {
  const { jobs, permissions } = parse(readFileSync(join(projectRoot, file), 'utf8')) as Workflow
  expect(permissions).toEqual({ contents: 'read' })
  for (const [name, job] of Object.entries(jobs)) {
    if (job.uses !== undefined) {
      expect(existsSync(join(projectRoot, job.uses)), job.uses).toBe(true)
      continue
    }
    expect(job['runs-on'], name).toMatch(/^(ubuntu-[\w.-]+|\$\{\{ matrix\.runner \}\})$/)
    expect(job['timeout-minutes'], name).toBeLessThanOrEqual(90)
  }
})

test('a release publishes the package and the image after all tests, each with its provenance and no other right', () => {
  const text = readFileSync(join(projectRoot, '.github/workflows/release.yml'), 'utf8')
  const { on, jobs } = parse(text) as Workflow
  expect(on).toEqual({ push: { tags: ['v*'] } })
  const { test: tests, publish, image, 'image-of-both': both, ...others } = jobs
  expect(others).toEqual({})
  expect([tests?.uses, publish?.needs, image?.needs]).toEqual([
    ...['./.github/workflows/ci.yml', 'test', 'test'],
  ])
  expect(publish?.permissions).toEqual({ contents: 'read', 'id-token': 'write' })
  expect(image?.permissions).toEqual({ contents: 'read', packages: 'write' })
  expect(both).toMatchObject({ needs: 'image', permissions: { packages: 'write' } })
  const commandsOf = (job?: Job) => (job?.steps ?? []).map(({ run = '' }) => run).join('\n')
  expect(commandsOf(publish)).toContain('npm publish ./rollcall-*.tgz --provenance')
  expect(commandsOf(image)).toContain('--provenance=mode=max')
  const isOfThisVersion = `test "v$(node -p 'require("./package.json").version')" = "$GITHUB_REF_NAME"`
  for (const job of [publish, image]) {
    const [first] = (job?.steps ?? []).flatMap(({ run = [] }) => run)
    expect(first).toBe(isOfThisVersion)
  }
  expect(both?.steps?.length).toBe(2)
})

interface Job {
  readonly uses?: string
  readonly needs?: string | readonly string[]
  readonly permissions?: object
  readonly 'runs-on'?: string
  readonly 'timeout-minutes'?: number
  readonly steps?: readonly { readonly uses?: string; readonly run?: string }[]
}

interface Workflow {
  readonly on: object
  readonly permissions: object
  readonly jobs: Readonly<Record<string, Job>>
}
