import { type Comparison, comparisonOf, type FoundKind } from '../operations/compare.ts'
import { openPresent, partOf } from '../operations/journal-home.ts'
import { readSpreadsheet } from '../operations/read-spreadsheet.ts'
import { type Clock, systemClock } from '../platform/clock.ts'
import { siteOf } from '../service/site.ts'
import { connectSpreadsheet } from '../service/spreadsheets.ts'
import { realWorld } from '../service/world.ts'
import type { Signup } from '../signup/signup.ts'
import type { Spreadsheet } from '../spreadsheet/spreadsheet.ts'
import type { Context } from './command.ts'
import type { Session } from './session.ts'
import { chosenSite, tellExpired, tellOtherSites } from './settings.ts'

/**
 * Compares a site's part of the journal with its present spreadsheet, beside a running service. Disposing
 * closes the journal.
 *
 * @param name of the site; the only one when it is undefined
 */
export async function differenceOf(context: Context, name: string | undefined) {
  const { config, secrets, home, notes, clock, stop } = context
  const site = siteOf(chosenSite(config.sites, name), config, secrets)
  await using opening = new AsyncDisposableStack()
  const { sites } = opening.use(await openPresent(home))
  await tellOtherSites(context)
  const journal = partOf(sites, site)
  const world = { ...realWorld, clock: tellingWaits(notes) }
  const spreadsheet = connectSpreadsheet({ ...site, journal }, world)
  const comparison = opening.use(await comparisonOf(journal.compared))
  const compared = await compareAll(spreadsheet, comparison, context)
  const expiredUpTo = await tellExpired(journal.reader, notes)
  const open = opening.move()
  return {
    ...{ compared, comparison, expiredUpTo, location: site.location },

    /**
     * Puts the signups of a kind back into the pending work. Returns how many.
     *
     * @param tells whether the webhooks of the site get their messages again
     */
    async deliverAgain(kind: FoundKind, isWanted = (_: Signup) => true, tells = false) {
      using progress = notes.progress('signups put back into the pending work')
      let put = 0
      for await (const page of comparison.foundPages(kind)) {
        const wanted = page.filter(({ signup }) => isWanted(signup))
        for (const { signup } of tells ? wanted : []) {
          for (const { key } of site.endpoints) await journal.webhooks.replay(key, signup.id)
        }
        const positions = wanted.map(({ position }) => position)
        put += await comparison.deliverAgain(positions, clock.now())
        progress.at(put)
        stop.throwIfAborted()
      }
      return put
    },

    [Symbol.asyncDispose]: () => open.disposeAsync(),
  }
}

async function compareAll(
  spreadsheet: Spreadsheet,
  comparison: Comparison,
  { notes, clock, stop }: Session,
) {
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
