import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { projectRoot } from '../../harness/source-file.ts'

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
