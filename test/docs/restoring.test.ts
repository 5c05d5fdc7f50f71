import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import { expect, test } from 'vitest'
import { allDelivered } from '../../harness/delivery-state.ts'
import { postSignups } from '../../harness/post-signup.ts'
import { projectRoot } from '../../harness/source-file.ts'
import { tempFolder } from '../../harness/temp-folder.ts'
import { openSqliteJournal } from '../../harness/sqlite-journal.ts'
import { makeSignup } from '../../harness/make-signup.ts'
import { runStep, startIn } from './follow-steps.ts'
import { scriptsMarked } from './readme-commands.ts'

test('the commands of docs/operations.md bring a backup back, and every row is there once', async () => {
  const page = readFileSync(join(projectRoot, 'docs/operations.md'), 'utf8')
  const steps = scriptsMarked('step', page)
  expect(steps).toHaveLength(3)
  await using folder = await tempFolder()
  const journal = join(folder.path, 'data', 'journal.db')
  {
    await using service = await startIn(folder.path, {})
    await postSignups(service.url, ['ada@example.com'])
    await allDelivered(service)
  }
  {
    await using waiting = openSqliteJournal(journal)
    await waiting.intake.append([makeSignup({ email: 'bob@example.com' })])
  }
  await runStep('npm run -s rollcall -- backup rollcall.backup', folder.path, {})
  {
    await using service = await startIn(folder.path, {})
    await postSignups(service.url, ['eve@example.com'])
    await allDelivered(service)
  }
  await using stack = new AsyncDisposableStack()
  for (const step of steps) {
    if (step.trim() === 'npm start') {
      const service = stack.use(await startIn(folder.path, {}))
      await allDelivered(service)
    } else await runStep(step, folder.path, {})
  }
  const file = readFileSync(join(folder.path, 'data', 'sheets', 'Sheet1.csv'), 'utf8')
  const rows: string[][] = parse(file)
  expect(rows.map(([email]) => email).toSorted()).toEqual([
    'Email',
    ...['ada', 'bob', 'eve'].map((name) => `${name}@example.com`),
  ])
})
