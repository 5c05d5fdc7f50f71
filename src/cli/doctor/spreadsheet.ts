import { secretsOf } from '../../config/secrets.ts'
import { inspectSpreadsheet } from '../../service/inspect.ts'
import type { Check } from './check.ts'

/** From the clock and the access token to the room in the spreadsheet. */
export const spreadsheetCheck: Check = ({ config: { dataDir }, site, secrets, journal, session }) =>
  inspectSpreadsheet({
    site,
    secrets: secretsOf(secrets, site),
    dataDir,
    journal: journal.kind === 'open' ? journal.journal : undefined,
    signal: session.stop,
    waits: (ms) => session.notes.tell(`Waiting ${Math.ceil(ms / 1000)} s for the quota.`),
  })
