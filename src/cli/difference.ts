import type { SignupRecord } from '../journal/contracts/reader.ts'
import {
  type Compared,
  type Comparison,
  comparisonOf,
  type FoundKind,
} from '../operations/compare.ts'
import { type Clock, systemClock } from '../platform/clock.ts'
import { connectSpreadsheet, destinationOf } from '../service/spreadsheets.ts'
import { partOf } from '../operations/journal-home.ts'
import { readSpreadsheet } from '../operations/read-spreadsheet.ts'
import { endpointsOf } from '../service/webhooks.ts'
import { realWorld } from '../service/world.ts'
import type { SignupId } from '../signup/signup.ts'
import type { Spreadsheet } from '../spreadsheet/spreadsheet.ts'
import type { Session } from './session.ts'
import { chosenSite, readSettings, tellExpired, tellOtherSites } from './settings.ts'

/** The journal and the present spreadsheet, compared. */
export interface Difference {
  readonly compared: Compared
  readonly comparison: Comparison
  readonly location: string
  /** As `expiredUpTo` tells it. */
  readonly expiredUpTo: string | null
  /** Lets the webhooks of the site get the message of a signup again. */
  readonly tellWebhooks: (id: SignupId) => Promise<void>
}

/**
 * Compares a site's part of the journal with its present spreadsheet beside a running service, and runs
 * `work`.
 *
 * @param name of the site; the only one when it is undefined
 */
export async function withDifference<T>(
  { notes, clock, stop }: Pick<Session, 'notes' | 'clock' | 'stop'>,
  name: string | undefined,
  work: (difference: Difference) => Promise<T>,
): Promise<T> {
  const { config, secrets, home } = await readSettings()
  const site = chosenSite(config, name)
  {
    // Rejects when there is no journal, instead of making one.
    await using reading = await home.openReader()
    await tellOtherSites(config, reading, notes)
  }
  await using opened = await home.openBeside()
  const journal = partOf(opened.sites, site)
  const world = { ...realWorld, clock: tellingWaits(notes) }
  const destination = destinationOf(site, config, secrets)
  const spreadsheet = connectSpreadsheet({ ...destination, journal }, world)
  using comparison = await comparisonOf(journal.compared)
  const compared = await compareAll(spreadsheet, comparison, { notes, clock, stop })
  const upTo = await tellExpired(journal.reader, notes)
  const tellWebhooks = async (id: SignupId) => {
    for (const { key } of endpointsOf(secrets, site)) await journal.webhooks.replay(key, id)
  }
  const { location } = spreadsheet
  return await work({ compared, comparison, location, expiredUpTo: upTo, tellWebhooks })
}

async function compareAll(
  spreadsheet: Spreadsheet,
  comparison: Comparison,
  { notes, clock, stop }: Pick<Session, 'notes' | 'clock' | 'stop'>,
): Promise<Compared> {
  using reading = notes.progress('rows read')
  const onRows = (rows: number) => reading.at(rows)
  await readSpreadsheet(spreadsheet, comparison, { clock, stop, onRows })
  using progress = notes.progress('signups compared')
  return await comparison.compare((signups) => {
    stop.throwIfAborted()
    progress.at(signups)
  })
}

/** Says why nothing happens while the provider's quota is used up. */
function tellingWaits(notes: Session['notes']): Clock {
  return {
    ...systemClock,
    sleep(ms, signal) {
      const seconds = Math.ceil(ms / 1000)
      if (seconds > 2) notes.tell(`Waiting ${seconds} s for the quota of the Sheets API`)
      return systemClock.sleep(ms, signal)
    },
  }
}

/**
 * Puts the signups of a kind back into the pending work. Returns how many.
 *
 * @param tell is told of each before
 */
export async function deliverAgain(
  { comparison }: Difference,
  kind: FoundKind,
  { notes, clock, stop }: Pick<Session, 'notes' | 'clock' | 'stop'>,
  isWanted: (found: SignupRecord) => boolean = () => true,
  tell?: Difference['tellWebhooks'],
): Promise<number> {
  using progress = notes.progress('signups put back into the pending work')
  let put = 0
  for await (const page of comparison.foundPages(kind)) {
    const wanted = page.filter(isWanted)
    for (const { signup } of tell ? wanted : []) await tell?.(signup.id)
    const positions = wanted.map(({ position }) => position)
    put += await comparison.deliverAgain(positions, clock.now())
    progress.at(put)
    stop.throwIfAborted()
  }
  return put
}
