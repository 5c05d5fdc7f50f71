import type { Config } from '../../config/config.ts'
import { ConfigError } from '../../config/problem.ts'
import type { SiteConfig } from '../../config/sites/site.ts'
import type { OpenJournal } from '../../journal/contracts/journal.ts'
import { partOf } from '../../operations/journal-home.ts'
import type { Finding } from '../../signup/finding.ts'
import type { Session } from '../session.ts'
import { counted } from '../../operations/words.ts'
import { type Check, type CheckContext, databaseChecks, folderChecks } from './journal-checks.ts'
import { backlogCheck, keyCheck, originCheck, quotaCheck, settingsCheck } from './site-checks.ts'
import {
  challengeFindings,
  mailFindings,
  noticesFindings,
  spreadsheetFindings,
  webhookFindings,
} from '../../service/inspections.ts'
import { messageOf } from '../../platform/message-of.ts'
import { tellOtherSites } from '../settings.ts'

export interface Subject extends Pick<CheckContext, 'config' | 'secrets' | 'home' | 'sendsNotice'> {
  readonly sites: Config['sites']
}

/** What a site is set up with, and what has become of its signups. */
const setupChecks = [keyCheck, spreadsheetFindings, challengeFindings, originCheck]
const deliveries = [backlogCheck, quotaCheck, webhookFindings]

/**
 * The checks in the order in which they run and are printed: from the settings to what they lead to. When a
 * file names sites, first those of the instance, which have no name, and then those of each of these sites.
 */
function roundsOf({ config: { database, hasSites }, sites }: Subject) {
  const [site] = sites
  const places = [...(database ? databaseChecks : folderChecks), noticesFindings, mailFindings]
  const name = undefined
  if (!hasSites) {
    return [{ site, name, checks: [settingsCheck, ...setupChecks, ...places, ...deliveries] }]
  }
  const checks = [...setupChecks, ...deliveries]
  return [
    { site, name, checks: [settingsCheck, ...places] },
    ...sites.map((it) => ({ site: it, name: it.name, checks })),
  ]
}

/**
 * Runs all checks in order, and says of which site a finding is: undefined for the instance, and when no file
 * names sites. Opens the journal meanwhile, and makes it if there is none, because calls to the provider are
 * counted in it.
 */
export async function* diagnose(
  subject: Subject,
  session: Session,
): AsyncGenerator<Finding & { readonly site: string | undefined }> {
  const opened = await openJournal(subject, session)
  const [whyClosed, open] = typeof opened === 'string' ? [opened] : ['', opened]
  await using _ = open
  const parts = [...(open?.sites.values() ?? [])]
  for (const { site, name, checks } of roundsOf(subject)) {
    const journal = open && partOf(open.sites, site)
    const context: CheckContext = { ...subject, site, session, journal, parts, whyClosed }
    for (const check of checks as readonly Check[]) {
      for await (const finding of await check(context)) yield { ...finding, site: name }
      session.stop.throwIfAborted()
    }
  }
}

/** Prints one line for each finding, and an ending. Returns whether there is no fault. */
export async function diagnoseInLines(subject: Subject, session: Session): Promise<boolean> {
  const { out } = session
  let faults = 0
  let last: string | undefined
  const shared = new Set<string | undefined>()
  for await (const finding of diagnose(subject, session)) {
    if (finding.state === 'fault') faults += 1
    if (finding.check === 'editor' && finding.state === 'ok') shared.add(finding.site)
    if (finding.site !== last) await out.lines(`\nSite ${finding.site ?? ''}`)
    last = finding.site
    await out.lines(lineOf(finding))
  }
  const found = faults === 0 ? 'No fault' : counted(faults, 'fault')
  const { hasSites } = subject.config
  const others = subject.sites.filter(({ name }) => !shared.has(hasSites ? name : undefined))
  await out.write(`\n${found} found.\n${sharing(others)}`)
  return faults === 0
}

/** The address to share the spreadsheet with; null for the local workbook. */
export function accountOf({ spreadsheet }: Pick<SiteConfig, 'spreadsheet'>): string | null {
  return spreadsheet.kind === 'google' ? spreadsheet.credentials.email : null
}

/** The addresses to share these sites' spreadsheets with, each alone in its line. */
function sharing(sites: readonly SiteConfig[]): string {
  const accounts = new Set(sites.map(accountOf).filter((account) => account !== null))
  if (accounts.size === 0) return ''
  const what =
    sites.length > 1 ? 'each spreadsheet with its address' : 'the spreadsheet with this address'
  return `Share ${what}, as Editor:\n${[...accounts].join('\n')}\n`
}

/** The open journal, or why it cannot be opened, in one line. */
async function openJournal(
  { config, home }: Subject,
  { notes }: Session,
): Promise<OpenJournal | string> {
  try {
    const opened = await home.openBeside()
    await using reading = await home.openReader()
    await tellOtherSites(config, reading, notes)
    return opened
  } catch (error) {
    return error instanceof ConfigError
      ? error.problems.map(({ setting, problem }) => `${setting} ${problem}`).join(' ')
      : messageOf(error)
  }
}

const marks = { ok: 'ok', warning: 'warning', fault: 'FAULT', skipped: '-' } as const

function lineOf({ check, state, message, hint }: Finding): string {
  const end = /[.!?]$/.test(message) ? '' : '.'
  const what = hint === undefined ? message : `${message}${end} Do: ${hint}`
  return `${marks[state].padEnd(7)} ${check.padEnd(11)} ${what}`
}
