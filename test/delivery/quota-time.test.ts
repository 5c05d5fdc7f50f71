import { expect, test } from 'vitest'

import { changed } from '../../harness/changed.ts'
import { ManualClock } from '../../harness/manual-clock.ts'
import { openSqliteJournal } from '../../harness/sqlite-journal.ts'
import { connectSpreadsheet } from '../../src/service/spreadsheets.ts'
import { realWorld } from '../../src/service/world.ts'
import { googleSettings, signsNothing } from './writer-world.ts'

test('calls are counted by the clock of the journal, if it has one that all machines share', async () => {
  await using journal = openSqliteJournal(':memory:')
  const shared = new ManualClock()
  const own = new ManualClock()
  for (const time of [shared, undefined]) {
    let clock: unknown
    const asked = changed(journal, {
      ...(time && { time }),
      callLedger(account, given) {
        clock = given
        return journal.callLedger(account, given)
      },
    })
    const world = { ...realWorld, clock: own, signWith: () => async () => 'signed' }
    connectSpreadsheet(
      { spreadsheet: googleSettings, workbookDir: '', signIn: signsNothing, journal: asked },
      world,
    )
    expect(clock).toBe(time ?? own)
  }
})
