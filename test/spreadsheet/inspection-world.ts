import type { SpreadsheetHandle } from '../../emulators/google-sheets/spreadsheet-handle.ts'
import { createGoogleWorld, type GoogleWorld } from '../../harness/google-world.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { httpClient } from '../../src/platform/node/http-client.ts'
import { googleInspection } from '../../src/spreadsheet/google/inspection.ts'
import { keyTokens, signWith } from '../../src/spreadsheet/google/access-token.ts'
import type { Expected } from '../../src/spreadsheet/inspection.ts'
import type { Finding } from '../../src/platform/finding.ts'
import type { CallGate } from '../../src/spreadsheet/spreadsheet.ts'
import { testSignal } from './spreadsheet-contract.ts'

interface Looking {
  /** What differs from what the service expects of a new spreadsheet. */
  readonly expected?: Partial<Expected>
  readonly gate?: CallGate
}

/** All findings of one inspection. */
export async function inspect(
  world: GoogleWorld,
  looking: Looking = {},
): Promise<readonly Finding[]> {
  const { emulator, email, spreadsheetId, env } = world
  const look = googleInspection({
    access: { email, spreadsheetId, setting: 'SHEETS_SHEET_ID' },
    ask: keyTokens({ email, sign: signWith(env['SHEETS_PRIVATE_KEY'] ?? '') }),
    apiUrl: emulator.url,
    tokenUrl: emulator.tokenUrl,
    ...{ http: httpClient, clock: systemClock },
    gate: looking.gate ?? (async () => true),
  })
  const isOwn = async () => false
  const expected = { tabs: ['Sheet1'], own: [], isOwn, ...looking.expected }
  return Array.fromAsync(look(expected, testSignal))
}

/** What one check finds, in a world that was prepared. */
export async function findingsOf(
  check: string,
  prepare: (world: GoogleWorld, sheet: SpreadsheetHandle) => unknown,
  looking: Looking = {},
): Promise<readonly Finding[]> {
  await using world = await createGoogleWorld()
  await prepare(world, world.emulator.spreadsheet(world.spreadsheetId))
  return (await inspect(world, looking)).filter((finding) => finding.check === check)
}
