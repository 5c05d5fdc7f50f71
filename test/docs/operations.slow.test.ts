import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { allDelivered } from '../../harness/delivery-state.ts'
import { createGoogleWorld } from '../../harness/google-world.ts'
import { postSignups } from '../../harness/post-signup.ts'
import { projectRoot } from '../../harness/source-file.ts'
import { tempFolder } from '../../harness/temp-folder.ts'
import { runStep, startIn } from './follow-steps.ts'
import { scriptsMarked } from './readme-commands.ts'

test('the commands of docs/moving.md move all signups to Google, and on to a new spreadsheet', async () => {
  const page = readFileSync(join(projectRoot, 'docs/moving.md'), 'utf8')
  const steps = scriptsMarked('step', page)
  await using folder = await tempFolder()
  await using google = await createGoogleWorld()
  const { id } = google.emulator.createSpreadsheet({ sharedWith: google.email })
  const key = {
    type: 'service_account',
    client_email: google.email,
    private_key: google.env['SHEETS_PRIVATE_KEY'],
  }
  await writeFile(join(folder.path, 'service-account.json'), JSON.stringify(key))
  const { SHEETS_API_URL = '', SHEETS_TOKEN_URL = '' } = google.env
  const env = { SHEETS_API_URL, SHEETS_TOKEN_URL }
  let service = await startIn(folder.path, {})

  /** Runs a step as a person does, who stops the service before changing settings. */
  async function follow(step: string): Promise<void> {
    if (step.includes('.env')) await service[Symbol.asyncDispose]()
    if (step.trim() === 'npm start') {
      service = await startIn(folder.path, env)
      await postSignups(service.url, [`after${steps.indexOf(step)}@example.com`])
      return
    }
    const script = step.replaceAll('<id>', google.spreadsheetId).replaceAll('<new id>', id)
    if (/status|verify/.test(step)) await allDelivered(service)
    await runStep(script, folder.path, env)
  }

  const addresses = (spreadsheet: string) =>
    google.emulator
      .spreadsheet(spreadsheet)
      .rows('Sheet1')
      .slice(1)
      .map(([email = '']) => email)
      .toSorted()

  const early = Array.from({ length: 20 }, (_, at) => `person${at}@example.com`)
  await postSignups(service.url, early)
  await allDelivered(service)
  const second = steps.findIndex((step) => step.includes('<new id>'))
  expect(second).toBeGreaterThan(4)
  for (const step of steps.slice(0, second)) await follow(step)
  const first = addresses(google.spreadsheetId)
  expect(first).toHaveLength(21)
  expect(first).toEqual(expect.arrayContaining(early))
  for (const step of steps.slice(second)) await follow(step)
  await service[Symbol.asyncDispose]()
  expect(addresses(google.spreadsheetId)).toEqual(first)
  expect(addresses(id)).toHaveLength(22)
  expect(addresses(id)).toEqual(expect.arrayContaining(first))
})
