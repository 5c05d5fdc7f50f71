import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import { expect, test } from 'vitest'
import { allDelivered } from '../../harness/delivery-state.ts'
import { postBulk } from '../../harness/post-signup.ts'
import { runCommand } from '../../harness/run-command.ts'
import { startService } from '../../harness/start-service.ts'
import { tempFolder } from '../../harness/temp-folder.ts'

const phones = ['+49 (30) 123456', '+4930123456', '+1-555-1234567']
const email = (at: number) => `person${at}@example.com`
const env = {
  ROLLCALL_CONFIG: JSON.stringify({
    sites: { default: { fields: [{ name: 'phone', type: 'phone' }] } },
  }),
}

const phonesIn = (csv: string) =>
  parse(csv)
    .slice(1)
    .map((row: string[]) => row[7])

test('rows whose phone numbers an earlier version wrote with an apostrophe are the same rows', async () => {
  await using data = await tempFolder()
  const options = { dataDir: data.path, env }
  const file = join(data.path, 'sheets', 'Sheet1.csv')
  const run = (...args: string[]) => runCommand(args, options)
  await using service = await startService(options)
  const signups = phones.map((phone, at) => ({ email: email(at), phone }))
  expect((await postBulk(service.url, { signups })).status).toBe(202)
  await allDelivered(service)
  const written = await readFile(file, 'utf8')
  expect(phonesIn(written)).toEqual([phones[0], phones[1], `'${phones[2]}`])
  expect(phonesIn((await run('export')).stdout)).toEqual([phones[0], phones[1], `'${phones[2]}`])
  await writeFile(file, written.replace(`,${phones[0]}`, `,'${phones[0]}`))
  const { code, stdout } = await run('verify', '--json')
  expect({ code, report: JSON.parse(stdout) }).toMatchObject({
    code: 0,
    report: { signups: { present: 3, missing: 0 }, rows: { others: 0 } },
  })
  expect((await run('backfill', '--all', '--dry-run')).stdout).toMatch(/There already +3\n/)
  for (const at of [0, 1]) {
    const forgotten = await run('forget', email(at), '--json')
    expect(JSON.parse(forgotten.stdout)).toMatchObject({ rows: { removed: 1, others: 0 } })
  }
})

test('an import takes off the apostrophes of our exports, also those of earlier versions', async () => {
  await using folder = await tempFolder()
  const list = join(folder.path, 'list.csv')
  const options = { dataDir: join(folder.path, 'data'), env }
  const rows = [...phones, ...phones.map((phone) => `'${phone}`)]
  await writeFile(list, ['Email,Phone', ...rows.map((it, at) => `${email(at)},${it}`)].join('\n'))
  expect(await runCommand(['import', list], options)).toMatchObject({ code: 0 })
  const { stdout } = await runCommand(['export', '--format', 'ndjson'], options)
  const lines = stdout.trimEnd().split('\n')
  expect(lines.map((line) => (JSON.parse(line) as { phone: string }).phone)).toEqual([
    ...phones,
    ...phones,
  ])
})
