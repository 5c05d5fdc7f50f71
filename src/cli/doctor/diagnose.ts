import type { Config } from '../../config/config.ts'
import { ConfigError } from '../../config/problem.ts'
import type { SiteConfig } from '../../config/sites/site.ts'
import type { OpenJournal } from '../../journal/contracts/journal.ts'
import { partOf } from '../../operations/journal-home.ts'
import type { Finding } from '../../signup/finding.ts'
import type { Session } from '../session.ts'
import { counted } from '../terminal/words.ts'
import type { Check, CheckContext } from './check.ts'
import { databaseChecks } from './database-checks.ts'
import { folderChecks } from './folder-checks.ts'
import { backlogCheck, keyCheck, originCheck, quotaCheck, settingsCheck } from './site-checks.ts'
import {
  challengeFindings,
  noticesFindings,
  spreadsheetFindings,
} from '../../service/inspections.ts'
import { messageOf } from '../../platform/message-of.ts'
import { tellOtherSites } from '../settings.ts'

export interface Subject extends Pick<
  CheckContext,
  'config' | 'secrets' | 'home' | 'origin' | 'sendsNotice'
> {
  /** Those to look at. */
  readonly sites: Config['sites']
}

/** Checks that are made one after the other, of the instance or of one site. */
interface Round {
  readonly site: SiteConfig
  /** What the lines are about: the name of the site, or undefined when they are of the instance. */
  readonly name: string | undefined
  readonly checks: readonly Check[]
}

/**
 * In the order in which they run and are printed: from the settings to what they lead to. When a file
 * names sites, first the instance and then each of these sites.
 */
function roundsOf(
  { database, hasSites }: Pick<Config, 'database' | 'hasSites'>,
  sites: Config['sites'],
): readonly Round[] {
  const [site] = sites
  const places = [...(database ? databaseChecks : folderChecks), noticesFindings]
  const name = undefined
  if (!hasSites) {
    return [{ site, name, checks: [settingsCheck, ...setupChecks, ...places, ...deliveries] }]
  }
  return [
    { site, name, checks: [settingsCheck, ...places] },
    ...sites.map((it) => ({ site: it, name: it.name, checks: [...setupChecks, ...deliveries] })),
  ]
}

/** What a site is set up with, and what has become of its signups. */
const setupChecks = [keyCheck, spreadsheetFindings, challengeFindings, originCheck]
const deliveries = [backlogCheck, quotaCheck]

/** A finding, and the site that it is of; undefined for the instance, and when no file names sites. */
export type SiteFinding = Finding & { readonly site: string | undefined }

/**
 * Runs all checks in order. Opens the journal meanwhile, and makes it if there is none, because calls to
 * the provider are counted in it.
 */
export async function* diagnose(subject: Subject, session: Session): AsyncGenerator<SiteFinding> {
  await using opened = await openJournal(subject, session)
  for (const { site, name, checks } of roundsOf(subject.config, subject.sites)) {
    const { parts, whyClosed } = opened
    const journal = parts.size > 0 ? partOf(parts, site) : undefined
    const context = { ...subject, site, session, journal, parts: [...parts.values()], whyClosed }
    for (const check of checks) {
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
  for await (const finding of diagnose(subject, session)) {
    if (finding.state === 'fault') faults += 1
    if (finding.site !== last) await out.line(`\nSite ${finding.site ?? ''}`)
    last = finding.site
    await out.line(lineOf(finding))
  }
  const found = faults === 0 ? 'No fault' : counted(faults, 'fault')
  await out.write(`\n${found} found.\n${sharing(subject.sites)}`)
  return faults === 0
}

/** The address to share the spreadsheet with; null for the local workbook. */
export function accountOf({ spreadsheet }: Pick<SiteConfig, 'spreadsheet'>): string | null {
  return spreadsheet.kind === 'google' ? spreadsheet.credentials.email : null
}

/** The addresses to share the spreadsheets with, each alone in its line. */
function sharing(sites: readonly SiteConfig[]): string {
  const accounts = new Set(sites.map(accountOf).filter((account) => account !== null))
  if (accounts.size === 0) return ''
  const what =
    sites.length > 1 ? 'each spreadsheet with its address' : 'the spreadsheet with this address'
  return `Share ${what}, as Editor:\n${[...accounts].join('\n')}\n`
}

interface Opened extends AsyncDisposable {
  /** None when the journal cannot be opened. */
  readonly parts: OpenJournal['sites']
  readonly whyClosed: string
}

async function openJournal({ config, home }: Subject, { notes }: Session): Promise<Opened> {
  try {
    const opened = await home.openBeside()
    {
      await using reading = await home.openReader()
      await tellOtherSites(config, reading, notes)
    }
    const dispose = () => opened[Symbol.asyncDispose]()
    return { parts: opened.sites, whyClosed: '', [Symbol.asyncDispose]: dispose }
  } catch (error) {
    const whyClosed = inOneLine(error)
    return { parts: new Map(), whyClosed, [Symbol.asyncDispose]: async () => {} }
  }
}

function inOneLine(error: unknown): string {
  if (error instanceof ConfigError) {
    return error.problems.map(({ setting, problem }) => `${setting} ${problem}`).join(' ')
  }
  return messageOf(error)
}

const marks = { ok: 'ok', warning: 'warning', fault: 'FAULT', skipped: '-' } as const

function lineOf({ check, state, message, hint }: Finding): string {
  const end = /[.!?]$/.test(message) ? '' : '.'
  const what = hint === undefined ? message : `${message}${end} Do: ${hint}`
  return `${marks[state].padEnd(7)} ${check.padEnd(11)} ${what}`
}
