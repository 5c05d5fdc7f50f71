import { inspectSpreadsheet } from '../../service/inspect.ts'
import type { Check } from './check.ts'

/** From the clock and the access token to the room in the spreadsheet. */
export const spreadsheetCheck: Check = ({ config, secrets, journal, session }) =>
  inspectSpreadsheet({
    config,
    secrets,
    journal: journal.kind === 'open' ? journal.journal : undefined,
    signal: session.stop,
    waits: (ms) => session.notes.tell(`Waiting ${Math.ceil(ms / 1000)} s for the quota.`),
  })
