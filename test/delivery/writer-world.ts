import { changed } from '../../harness/changed.ts'
import { markerIdMax } from '../../harness/freeze-next.ts'
import { ManualClock } from '../../harness/manual-clock.ts'
import { ScriptedSpreadsheet } from '../../harness/scripted-spreadsheet.ts'
import type { Journal } from '../../src/journal/contracts/journal.ts'
import { openSqliteJournal } from '../../harness/sqlite-journal.ts'
import { createEvents, type Events } from '../../src/ops/events.ts'
import { createHealth } from '../../src/ops/health.ts'
import { createLog } from '../../src/ops/log.ts'
import { createWriter } from '../../src/service/site-delivery.ts'

const minute = 60 * 1000
const hour = 60 * minute

export const googleSettings = {
  kind: 'google',
  spreadsheetId: 'scripted',
  credentials: { email: 'robot@example.com' },
  apiUrl: 'http://127.0.0.1:1',
  tokenUrl: 'http://127.0.0.1:1/token',
  quota: { perMinute: 50, perDay: 10_000 },
} as const

/** An account whose signatures the world makes. */
export const signsNothing = { kind: 'key', email: 'robot@example.com', privateKey: '' } as const

export interface Given {
  readonly journal?: Journal
  readonly spreadsheet?: ScriptedSpreadsheet
  /** How many markers may stand in the spreadsheet. */
  readonly markersMax?: number
  /** How often the writer looks for signups that another process has appended. */
  readonly lookEveryMs?: number
  /** Whether the writer ends the frozen batch and removes rows only. */
  readonly removesOnly?: boolean
  /** Get the events in place of the log. */
  readonly heard?: Partial<Events>
}

/** Delivery as the service wires it for Google, with a scripted spreadsheet and simulated time. */
export function createDeliveryWorld({
  markersMax = 300,
  lookEveryMs = hour,
  heard = {},
  removesOnly = false,
  ...given
}: Given = {}) {
  const { journal = openSqliteJournal(':memory:'), spreadsheet = spreadsheetOf(markersMax) } = given
  const clock = new ManualClock()
  const health = createHealth()
  const events = changed(createEvents(createLog('silent'), health, clock), heard)
  const writer = createWriter(
    {
      spreadsheet: googleSettings,
      workbookDir: '',
      signIn: signsNothing,
      journal,
      events,
      removesOnly,
    },
    {
      clock,
      random: () => 0.5,
      signWith: () => async () => 'signed',
      wrap: () => spreadsheet,
      lookEveryMs,
    },
  )
  return {
    journal,
    spreadsheet,
    clock,
    health,
    writer,
    delivered: async (rows: number) => {
      await clock.runUntil(() => Object.values(spreadsheet.rows).flat().length >= rows)
      await clock.run(minute)
    },
    [Symbol.asyncDispose]: async () => {
      const stopped = writer.stop(0)
      await clock.run(hour)
      await stopped
      await journal[Symbol.asyncDispose]()
    },
  }
}

export function spreadsheetOf(markersMax: number): ScriptedSpreadsheet {
  return new ScriptedSpreadsheet({ markers: { max: markersMax, idMax: markerIdMax } })
}

/** The calls that write, in order. */
export const writes = (spreadsheet: ScriptedSpreadsheet) =>
  spreadsheet.calls.filter((call) => call.startsWith('write'))
