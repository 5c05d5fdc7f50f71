import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { bootService } from '../../harness/boot-service.ts'
import { patienceMs } from '../../harness/patience.ts'
import { postBulk, postSignup } from '../../harness/post-signup.ts'
import { readTab } from '../../harness/read-workbook.ts'
import { runCommand } from '../../harness/run-command.ts'

const fields = [
  { name: 'company', label: 'Firma', required: true, maxLength: 80 },
  { name: 'seats', type: 'number', min: 1 },
  { name: 'news', type: 'checkbox' },
]

test('fields of a site are described in the config, and go from a JSON body, a form, a bulk request and an import into their columns', async () => {
  const env = { ROLLCALL_CONFIG: JSON.stringify({ sites: { default: { fields } } }) }
  await using service = await bootService({ env: { ...env, API_KEYS: 'a-long-right-key' } })
  const { url } = service
  expect(await (await fetch(`${url}/api/config?site=default`)).json()).toMatchObject({
    fields: [
      { name: 'company', type: 'text', label: 'Firma', required: true, maxLength: 80 },
      { name: 'seats', type: 'number', required: false, min: 1 },
      { name: 'news', type: 'checkbox', required: false },
    ],
  })
  const dataDir = join(service.folder, 'data')
  const post = (body: unknown, headers = {}) => postSignup(url, body, headers)
  const values = { company: '=Engines', seats: 2.5, news: true }
  const headers = { 'idempotency-key': 'one' }
  expect((await post({ email: 'json@example.com', ...values }, headers)).status).toBe(202)
  expect((await post({ email: 'json@example.com', ...values }, headers)).status).toBe(202)
  const other = { email: 'json@example.com', ...values, seats: 3 }
  expect((await post(other, headers)).status).toBe(422)
  const form = new URLSearchParams({ email: 'form@example.com', company: 'Looms', seats: '4' })
  const accept = { accept: 'application/json' }
  const formed = await fetch(`${url}/api/signup`, { method: 'POST', body: form, headers: accept })
  expect(formed.status).toBe(202)
  const items = [{ email: 'bulk@example.com', company: 'Mills' }, { email: 'no@example.com' }]
  const key = { authorization: 'Bearer a-long-right-key' }
  expect(await (await postBulk(url, { signups: items }, key)).json()).toMatchObject({
    results: [{}, { errors: [{ field: 'company', message: 'Firma is missing: fill it in.' }] }],
  })
  const list = join(service.folder, 'list.csv')
  await writeFile(list, 'Email,Kunde,seats,NEWS\nimport@example.com,Press,5,FALSE\n')
  const imported = await runCommand(['import', list, '--map', 'company=Kunde'], { dataDir, env })
  expect(imported.code, imported.stderr).toBe(0)

  const rows = [
    ['Email', 'Firma', 'seats', 'news'],
    ['json@example.com', "'=Engines", '2.5', 'TRUE'],
    ['form@example.com', 'Looms', '4', 'FALSE'],
    ['bulk@example.com', 'Mills', '', ''],
    ['import@example.com', 'Press', '5', 'FALSE'],
  ]
  const written = () =>
    readTab(dataDir, 'Sheet1.csv').map(([email, ...cells]) => [email, ...cells.slice(6)])
  await expect.poll(written, { timeout: patienceMs }).toEqual(rows)
  const csv = await runCommand(['export'], { dataDir, env })
  expect(csv.stdout).toContain(",Sheet1,'=Engines,2.5,TRUE\r\n")
  const { stdout } = await runCommand(['export', '--format', 'ndjson'], { dataDir, env })
  expect(JSON.parse(stdout.split('\n')[0] ?? '')).toMatchObject(values)
})
