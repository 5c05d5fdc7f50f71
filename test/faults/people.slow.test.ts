// @module-tag slow
import { rm } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'

import { allDelivered, waitUntil } from '../../harness/delivery-state.ts'
import { createGoogleWorld, type GoogleWorld } from '../../harness/google-world.ts'
import { postSignup } from '../../harness/post-signup.ts'
import { type RunningService, startService } from '../../harness/start-service.ts'
import { tempFolder } from '../../harness/temp-folder.ts'

/** People change a spreadsheet, its tabs and our own files. Rows still arrive once. */

async function signUp({ url }: RunningService, ...names: readonly string[]): Promise<void> {
  for (const name of names) {
    const answer = await postSignup(url, { email: `${name}@example.com`, sheetTab: 'News' })
    expect(answer.status).toBe(202)
  }
}

async function namesIn(world: GoogleWorld, tab = 'News'): Promise<(string | undefined)[]> {
  const rows = (await world.rows(tab)) ?? []
  return rows.map(([cell]) => cell?.replace('@example.com', ''))
}

/** Signs up, and lets Google apply the batch and lose its answer. The service does not know it yet. */
async function signUpWithoutAnswer(
  world: GoogleWorld,
  service: RunningService,
  name: string,
): Promise<void> {
  const lost = { on: 'batchUpdate', apply: 'now', answer: 'drop', delayMs: 400 } as const
  world.emulator.faults.add(lost)
  await signUp(service, name)
  const isApplied = async () => (await namesIn(world)).includes(name)
  await waitUntil(isApplied, () => 'no batch was applied')
}

type Sheet = ReturnType<GoogleWorld['emulator']['spreadsheet']>

const deeds: readonly (readonly [string, (sheet: Sheet) => void, readonly string[]])[] = [
  [
    'sorts the rows',
    (sheet) => sheet.sortRows('News', 0, 'descending'),
    ['Email', 'grace', 'bob', 'ada', 'new'],
  ],
  [
    'inserts rows with notes and edits an address',
    (sheet) => {
      sheet.insertRows('News', 3, 2)
      sheet.editCell('News', 'A3', 'a note')
      sheet.editCell('News', 'A2', 'Ada L.')
    },
    ['Email', 'Ada L.', 'a note', '', 'bob', 'grace', 'new'],
  ],
  [
    'changes the header row',
    (sheet) => sheet.editCell('News', 'A1', 'Address'),
    ['Address', 'ada', 'bob', 'grace', 'new'],
  ],
  ['deletes rows', (sheet) => sheet.deleteRows('News', 3, 2), ['Email', 'ada', 'new']],
]

describe.concurrent('the answer to a batch is lost and a person changes the tab', () => {
  test.each(deeds)(
    'after a person %s, no row is written twice and new ones go below',
    async (_, deed, names) => {
      await using world = await createGoogleWorld()
      await using service = await startService({ env: world.env })
      const sheet = world.emulator.spreadsheet(world.spreadsheetId)
      await signUp(service, 'ada', 'bob')
      await allDelivered(service)
      await signUpWithoutAnswer(world, service, 'grace')
      deed(sheet)
      await allDelivered(service)
      await signUp(service, 'new')
      await allDelivered(service)
      expect(await namesIn(world)).toEqual(names)
    },
  )

  test('after a person renames the tab, its rows stay there and later ones go to a new tab', async () => {
    await using world = await createGoogleWorld()
    await using service = await startService({ env: world.env })
    await signUp(service, 'ada')
    await allDelivered(service)
    await signUpWithoutAnswer(world, service, 'grace')
    world.emulator.spreadsheet(world.spreadsheetId).renameTab('News', 'Old news')
    await allDelivered(service)
    await signUp(service, 'new')
    await allDelivered(service)
    expect(await namesIn(world, 'Old news')).toEqual(['Email', 'ada', 'grace'])
    expect(await namesIn(world)).toEqual(['Email', 'new'])
  })

  test('after a person deletes the tab, its rows are gone and later ones go to a new tab', async () => {
    await using world = await createGoogleWorld()
    await using service = await startService({ env: world.env })
    await signUp(service, 'ada')
    await allDelivered(service)
    await signUpWithoutAnswer(world, service, 'grace')
    world.emulator.spreadsheet(world.spreadsheetId).deleteTab('News')
    await allDelivered(service)
    await signUp(service, 'new')
    await allDelivered(service)
    expect(await namesIn(world)).toEqual(['Email', 'new'])
  })
})

describe.concurrent('DATA_DIR', () => {
  test('when DATA_DIR is lost, the signups that were not delivered are lost, and no row', async () => {
    await using folder = await tempFolder()
    await using world = await createGoogleWorld()
    const options = { dataDir: folder.path, env: world.env }
    {
      await using service = await startService(options)
      await signUp(service, 'ada', 'grace')
      await allDelivered(service)
      world.emulator.faults.add({ times: 0, answer: 'unavailable' })
      await signUp(service, 'waiting')
      await service.kill()
    }
    await rm(folder.path, { recursive: true })
    world.emulator.faults.clear()
    await using service = await startService(options)
    await signUp(service, 'new')
    await allDelivered(service)
    expect(await namesIn(world)).toEqual(['Email', 'ada', 'grace', 'new'])
  })
})

test('while somebody else uses up the quota, rows wait for their turn and arrive once', async () => {
  await using world = await createGoogleWorld({
    quota: [{ access: 'any', per: 'user', limit: 20, windowMs: 5000 }],
  })
  const { url } = world.emulator
  const token = world.emulator.issueToken(world.email)
  const get = () =>
    fetch(`${url}/v4/spreadsheets/${world.spreadsheetId}`, {
      headers: { authorization: `Bearer ${token}` },
    })
  await using service = await startService({ env: world.env })
  await signUp(service, 'ada')
  await allDelivered(service)
  while ((await get()).status !== 429);
  await signUp(service, 'grace')
  // Somebody else takes each call that becomes free meanwhile.
  const isDelayed = async () => {
    await get()
    return service.output().includes('Quota exceeded')
  }
  await waitUntil(isDelayed, () => 'the quota delays no batch')
  await allDelivered(service)
  expect(await namesIn(world)).toEqual(['Email', 'ada', 'grace'])
})
