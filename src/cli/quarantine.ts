import { type Command, InvalidArgumentError } from '@commander-js/extra-typings'
import { partOf } from '../operations/journal-home.ts'
import {
  decide,
  decidedWords,
  type Decision,
  domainOf,
  heldSignups,
} from '../operations/quarantine.ts'
import { startRowRemoval } from '../service/row-removal.ts'
import { visible } from '../platform/visible.ts'
import { signupIdOf } from '../signup/id.ts'
import type { Signup, SignupId } from '../signup/signup.ts'
import { toObject } from './export/formats.ts'
import { parseMoment } from './moment.ts'
import { exit, type Run, type Session, UsageError } from './session.ts'
import { chosenSites, readSettings } from './settings.ts'
import { counted } from '../operations/words.ts'
import { parseSeconds } from './terminal/words.ts'
import { iso } from '../platform/clock.ts'

const details = `
Without a decision, it lists them: id, time, signs of spam, the tab that was asked for,
address and name. With --json, each is one line. Where signups are confirmed by mail, a
suspect one gets its mail when it is released.
Exit code 1: an id is not in quarantine, or a row still has to be removed from the
quarantine tab: the service removes it later, and so does the next call.`

export function addQuarantine(program: Command, run: Run): void {
  quarantineIn(program).action(([decision, ...ids], options) =>
    run(async (session) => {
      if (decision === 'release' || decision === 'erase') {
        return act(decision, ids, options, session)
      }
      if (decision !== undefined) throw new UsageError('Say release or erase, and then the ids.')
      if (options.dryRun) throw new UsageError('--dry-run goes with release or erase.')
      return list(options, session)
    }),
  )
}

function quarantineIn(program: Command) {
  return program
    .command('quarantine')
    .description('list suspect signups; give them a row in their tab, or erase them')
    .argument('[what...]', 'release or erase, and the ids of signups or else filters')
    .option('--site <name>', 'only this site; otherwise all')
    .option('--domain <domain>', 'only addresses at this domain', parseDomain)
    .option('--since <date>', 'only signups from this date (UTC) or time on', parseMoment)
    .option('--dry-run', 'tell how many it would be, and change nothing')
    .option('--wait <seconds>', 'how long to wait for the spreadsheet', parseSeconds, 60)
    .option('--json', 'print JSON, for programs')
    .addHelpText('after', details)
}

type Options = ReturnType<ReturnType<typeof quarantineIn>['opts']>

async function list({ site, json, ...filters }: Options, session: Session) {
  const { out, notes, stop } = session
  const { config, home } = await readSettings()
  const sites = chosenSites(config, site)
  await using journal = await home.openReader()
  let count = 0
  for (const one of sites) {
    const ofSite = config.hasSites ? { site: one.name } : undefined
    for await (const page of heldSignups(partOf(journal.sites, one), filters, stop)) {
      for (const { signup } of page) {
        const object = { ...ofSite, ...toObject(signup), suspect: signup.suspect }
        if (json) await out.json(object, 0)
        else await out.lines(lineOf(signup, one.name, config.hasSites))
      }
      count += page.length
    }
  }
  if (!json) notes.tell(`In quarantine: ${counted(count, 'signup')}.`)
  return exit.done
}

function lineOf(signup: Signup, site: string, hasSites: boolean): string {
  const { id, receivedAt, email, name, sheetTab, suspect = [] } = signup
  const where = hasSites ? `${site}: ${sheetTab}` : sheetTab
  const cells = [id, iso(receivedAt), suspect.join(','), where, email, name]
  return cells.map(visible).join('  ').trimEnd()
}

async function act(decision: Decision, ids: readonly string[], options: Options, session: Session) {
  const { clock, notes, out, stop } = session
  const { site, domain, since, dryRun: isTrial = false, wait, json } = options
  const hasFilters = site !== undefined || domain !== undefined || since !== undefined
  if (ids.length > 0 ? domain !== undefined || since !== undefined : !hasFilters) {
    throw new UsageError('Give ids of signups, or else filters: --site, --domain, --since.')
  }
  const choice = ids.length > 0 ? { ids: ids.map(idOf) } : { domain, since }
  const { config, secrets, home } = await readSettings()
  const sites = chosenSites(config, site)
  // A journal that is not there is not made.
  await (await home.openReader())[Symbol.asyncDispose]()
  await using opened = await home.openBeside()
  const journals = new Map(sites.map((it) => [it.name, partOf(opened.sites, it)]))
  using progress = notes.progress(isTrial ? 'signups found' : 'signups done')
  const report = await decide(decision, choice, {
    ...{ journals, clock, stop, isTrial },
    startRemoval: () => startRowRemoval({ config, secrets, home, journals, clock }),
    reachable: new Set(journals.keys()),
    waitMs: wait * 1000,
    progress: (done) => progress.at(done),
  })
  if (json) await out.json(report)
  else {
    const confirms = sites.some((it) => it.confirmation === 'mail')
    await out.lines(...decidedWords(decision, report, { isTrial, confirms }))
  }
  return report.rows.waiting + report.notHeld === 0 ? exit.done : exit.notAll
}

function idOf(text: string): SignupId {
  const id = signupIdOf(text)
  if (id !== undefined) return id
  throw new UsageError('An id is 36 characters long, as rollcall quarantine lists it.')
}

function parseDomain(text: string): string {
  const domain = domainOf(text)
  if (domain !== undefined) return domain
  throw new InvalidArgumentError('Give a domain, such as example.com.')
}
