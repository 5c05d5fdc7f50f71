import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

import { createGoogleWorld } from '../../harness/google-world.ts'
import { projectRoot } from '../../harness/source-file.ts'

interface Ended {
  readonly code: number
  readonly output: string
}

/** Runs `npm run test:live` without npm, with these variables and no other settings. */
async function liveCheck(env: Readonly<Record<string, string>>): Promise<Ended> {
  const vitest = join(projectRoot, 'node_modules/vitest/vitest.mjs')
  const args = [vitest, 'run', '--config', 'vitest.live.config.ts']
  const options = { cwd: projectRoot, env: { PATH: process.env['PATH'], ...env } }
  try {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, args, options)
    return { code: 0, output: stdout + stderr }
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string }
    return { code, output: stdout + stderr }
  }
}

test(
  'the live check passes on a spreadsheet that does what the documentation says',
  { tags: 'slow' },
  async () => {
    await using world = await createGoogleWorld()
    world.emulator.model.find(world.spreadsheetId).properties.title = 'Rollcall live test 1'
    const { SHEETS_SHEET_ID: LIVE_SHEET_ID = '', ...env } = world.env
    const { code, output } = await liveCheck({
      ...{ ...env, LIVE_SHEET_ID, SHEETS_REQUESTS_PER_MINUTE: '3000' },
    })
    expect(output).toContain('deleting a marker that does not exist: accepted')
    expect(code, output).toBe(0)
  },
)

test(
  'the live check leaves a spreadsheet with another title as it is',
  { tags: 'slow' },
  async () => {
    await using world = await createGoogleWorld()
    const spreadsheet = world.emulator.spreadsheet(world.spreadsheetId)
    spreadsheet.appendRows('Sheet1', [['precious']])
    const { SHEETS_SHEET_ID: LIVE_SHEET_ID = '', ...env } = world.env
    const { code, output } = await liveCheck({ ...env, LIVE_SHEET_ID })
    expect(code).not.toBe(0)
    expect(output).toContain('was left as it is')
    expect(spreadsheet.titles()).toEqual(['Sheet1'])
    expect(spreadsheet.rows('Sheet1')).toEqual([['precious']])
  },
)

test('without a spreadsheet the live check says what to set', { tags: 'slow' }, async () => {
  const { code, output } = await liveCheck({})
  expect(code).not.toBe(0)
  expect(output).toContain('Set LIVE_SHEET_ID')
})
