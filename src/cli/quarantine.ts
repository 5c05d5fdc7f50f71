import { rollcall } from '../platform/command-words.ts'
import { Command, InvalidArgumentError } from '@commander-js/extra-typings'
import { openPresent, partOf } from '../operations/journal-home.ts'
import {
  type Choice,
  decide,
  decidedWords,
  type Decision,
  domainOf,
  heldSignups,
} from '../operations/quarantine.ts'
import { visible } from '../platform/visible.ts'
import { emailProblem, storedEmail } from '../signup/email.ts'
import { signupIdOf } from '../signup/id.ts'
import type { Signup, SignupId } from '../signup/signup.ts'
import { toObject } from '../operations/export.ts'
import { parseMoment } from './moment.ts'
import { type AddCommand, command, commandsBelow } from './command.ts'
import { UsageError } from './session.ts'
import { chosenSites } from './settings.ts'
import { counted } from '../operations/words.ts'
import { parseSeconds } from './terminal/words.ts'
import { iso } from '../platform/clock.ts'

const details = `
Where signups are confirmed by mail, a suspect one gets its mail when it is released.
Exit code 1: an id or an address is not held, or is in a batch that is on its way: release
it again when that has ended.`

function wordsOf(name: string, description: string) {
  return new Command(name)
    .description(description)
    .option('--site <name>', 'only this site; otherwise all')
    .option('--domain <domain>', 'only addresses at this domain', parseDomain)
    .option('--since <date>', 'only signups from this date (UTC) or time on', parseMoment)
}

const list = command(
  wordsOf('list', 'id, time, signs of spam, the tab that was asked for, address and name of each'),
  async ({ config, home, out, notes, stop, json }, { site, ...filters }) => {
    const sites = chosenSites(config.sites, site)
    await using journal = await home.openReader()
    let count = 0
    for (const one of sites) {
      const ofSite = config.hasSites ? { site: one.name } : undefined
      for await (const page of heldSignups(partOf(journal.sites, one), filters, stop)) {
        for (const { signup } of page) {
          const object = { ...ofSite, ...toObject(signup), suspect: signup.suspect }
          // One line for each, so that a program can read them one by one.
          if (json) await out.json(object, 0)
          else await out.lines(lineOf(signup, one.name, config.hasSites))
        }
        count += page.length
      }
    }
    if (!json) notes.tell(`Held: ${counted(count, 'signup')}.`)
    return {}
  },
)

function lineOf(signup: Signup, site: string, hasSites: boolean): string {
  const { id, receivedAt, email, name, sheetTab, suspect = [] } = signup
  const where = hasSites ? `${site}: ${sheetTab}` : sheetTab
  const cells = [id, iso(receivedAt), suspect.join(','), where, email, name]
  return cells.map(visible).join('  ').trimEnd()
}

function deciding(decision: Decision, description: string): AddCommand {
  const words = wordsOf(decision, description)
    .argument('[ids or addresses...]', 'which ones; or else give filters')
    .option('--dry-run', 'tell how many it would be, and change nothing')
    .option('--wait <seconds>', 'how long to wait for a batch that is on its way', parseSeconds, 60)
  return command(words, async ({ config, home, clock, notes, stop }, given, options) => {
    const { site, domain, since, dryRun: isTrial = false, wait } = options
    const hasFilters = site !== undefined || domain !== undefined || since !== undefined
    if (given.length > 0 ? domain !== undefined || since !== undefined : !hasFilters) {
      throw new UsageError('Give ids or addresses, or else filters: --site, --domain, --since.')
    }
    const choice = given.length > 0 ? chosenOf(given) : { domain, since }
    const sites = chosenSites(config.sites, site)
    await using opened = await openPresent(home)
    const journals = new Map(sites.map((it) => [it.name, partOf(opened.sites, it)]))
    using progress = notes.progress(isTrial ? 'signups found' : 'signups done')
    const report = await decide(decision, choice, {
      ...{ journals, clock, stop, isTrial },
      waitMs: wait * 1000,
      progress: (done) => progress.at(done),
    })
    const confirms = sites.some((it) => it.confirmation === 'mail')
    const lines = decidedWords(decision, report, { isTrial, confirms })
    return { report, lines, isWell: report.inBatch + report.notHeld === 0 }
  })
}

export const addQuarantine = commandsBelow(
  new Command('quarantine')
    .description('list held signups; release them into their tab, or erase them')
    .addHelpText('after', details),
  list,
  deciding('release', 'put held signups into the tab that they asked for'),
  deciding('erase', 'erase held signups'),
)

function chosenOf(given: readonly string[]): Choice {
  const [addresses, ids] = [given.filter(isAddress), given.filter((text) => !isAddress(text))]
  return { ids: ids.map(idOf), addresses: addresses.map((text) => storedEmail(text).toLowerCase()) }
}

function isAddress(text: string): boolean {
  return emailProblem(storedEmail(text)) === undefined
}

function idOf(text: string): SignupId {
  const id = signupIdOf(text)
  if (id !== undefined) return id
  throw new UsageError(
    `Give whole addresses, or ids of 36 characters, as ${rollcall('quarantine')} lists them.`,
  )
}

function parseDomain(text: string): string {
  const domain = domainOf(text)
  if (domain !== undefined) return domain
  throw new InvalidArgumentError('Give a domain, such as example.com.')
}
