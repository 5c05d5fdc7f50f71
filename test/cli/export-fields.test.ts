import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makeSignup } from '../../harness/make-signup.ts'
import { runCommand } from '../../harness/run-command.ts'
import { appendTo } from '../../harness/sqlite-journal.ts'
import { tempFolder } from '../../harness/temp-folder.ts'

const fields = [
  { name: 'topics', type: 'choices', label: { en: 'Topics', de: 'Themen' }, options: ['a', 'b'] },
  { name: 'why', type: 'textarea' },
]
const env = { ROLLCALL_CONFIG: JSON.stringify({ sites: { default: { fields } } }) }
const values = { topics: ['a', 'b'], why: 'one\n\n"two"' }

test.each(['csv', 'ndjson'])(
  'several choices and lines of text come back by an import of a %s export',
  async (format) => {
    await using from = await tempFolder()
    await using to = await tempFolder()
    await appendTo(from.path, [makeSignup({ email: 'ada@example.com', fields: values })])
    const exported = await runCommand(['export', '--format', format], { dataDir: from.path, env })
    const file = join(to.path, `list.${format}`)
    await writeFile(file, exported.stdout)
    const dataDir = join(to.path, 'data')
    const { code, stderr } = await runCommand(['import', file], { dataDir, env })
    expect(code, stderr).toBe(0)
    const again = await runCommand(['export', '--format', 'ndjson'], { dataDir, env })
    expect(JSON.parse(again.stdout)).toMatchObject(values)
    const csv = await runCommand(['export'], { dataDir, env })
    expect(csv.stdout).toContain(',Topics,why\r\n')
    expect(csv.stdout).toContain(',"a, b","one\n\n""two"""\r\n')
  },
)
