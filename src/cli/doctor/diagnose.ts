import type { Config } from '../../config/config.ts'
import { noAddress } from '../../config/google-key/sign-in.ts'
import { ConfigError } from '../../config/problem.ts'
import type { SiteConfig } from '../../config/sites/site.ts'
import type { OpenJournal } from '../../journal/contracts/journal.ts'
import { partOf } from '../../operations/journal-home.ts'
import type { Finding } from '../../platform/finding.ts'
import type { Session } from '../session.ts'
import { counted } from '../../operations/words.ts'
import { databaseChecks, folderChecks } from './journal-checks.ts'
import { instanceDoors, siteDoors } from './public-checks.ts'
import { backlogCheck, heldCheck, quotaCheck, settingsCheck, signInCheck } from './site-checks.ts'
import {
  type Check,
  challengeFindings,
  mailFindings,
  noticesFindings,
  spreadsheetFindings,
  webhookFindings,
} from './inspections.ts'
import { messageOf } from '../../platform/message-of.ts'
import { type Settings, tellOtherSites } from '../settings.ts'

export interface Subject extends Session, Settings {
  /** The sites that are meant. */
  readonly sites: Config['sites']
  /** Whether to send a test notice. */
  readonly sendsNotice: boolean
}

/**
 * The checks in the order in which they run and are printed: from the settings to what they lead to, and last
 * what a launch leaves open unless somebody closes it. When a file names sites, first those of the instance,
 * which have no name, and then those of each of these sites.
 */
function roundsOf({ config: { database, hasSites }, sites }: Subject) {
  const places = [...(database ? databaseChecks : folderChecks), noticesFindings, mailFindings]
  /** What a site is set up with, and what has become of its signups. */
  const setup = [signInCheck, spreadsheetFindings, challengeFindings]
  const deliveries = [backlogCheck, heldCheck, quotaCheck, webhookFindings]
  const round = (checks: readonly Check[], heading?: string, site = sites[0], name?: string) => {
    return { checks, heading, site, name }
  }
  const ofSites = (checks: readonly Check[], heading?: string) =>
    sites.map((it) => round(checks, heading ?? `Site ${it.name}`, it, it.name))
  const doors = 'Before you go public'
  if (!hasSites) {
    const all = [settingsCheck, ...setup, ...places, ...deliveries]
    return [round(all), round([instanceDoors, siteDoors], doors)]
  }
  return [
    ...[round([settingsCheck, ...places]), ...ofSites([...setup, ...deliveries])],
    ...[round([instanceDoors], doors), ...ofSites([siteDoors], doors)],
  ]
}

/** A finding, and where it belongs. */
export interface Diagnosis extends Finding {
  /** Undefined for the instance, and when no file names sites. */
  readonly site: string | undefined
  /** What stands over it and those behind it; undefined for the first ones. */
  readonly heading: string | undefined
}

/**
 * Runs all checks in order. Opens the journal meanwhile, and makes it if there is none, because calls to the provider are
 * counted in it.
 */
export async function* diagnose(subject: Subject): AsyncGenerator<Diagnosis> {
  const opened = await openJournal(subject)
  const [whyClosed, open] = typeof opened === 'string' ? [opened] : ['', opened]
  await using _ = open
  const parts = [...(open?.sites.values() ?? [])]
  for (const { site, name, heading, checks } of roundsOf(subject)) {
    const journal = open && partOf(open.sites, site)
    for (const check of checks) {
      for await (const finding of await check({ ...subject, site, journal, parts, whyClosed })) {
        yield { ...finding, site: name, heading }
      }
      subject.stop.throwIfAborted()
    }
  }
}

/** Prints one line for each finding, and an ending. Returns whether there is no fault. */
export async function diagnoseInLines(subject: Subject): Promise<boolean> {
  const { out, sites, config } = subject
  const found: Diagnosis[] = []
  for await (const finding of diagnose(subject)) {
    if (finding.heading !== found.at(-1)?.heading) await out.lines(`\n${finding.heading ?? ''}`)
    found.push(finding)
    await out.lines(lineOf(finding))
  }
  const countOf = (state: Finding['state']) => found.filter((it) => it.state === state).length
  const [faults, warnings] = [countOf('fault'), countOf('warning')]
  const words = faults === 0 ? 'No fault' : counted(faults, 'fault')
  const more = warnings === 0 ? '' : ` ${counted(warnings, 'warning')} to think about.`
  const shared = found.filter(({ check, state }) => check === 'editor' && state === 'ok')
  const others = sites.filter(({ name }) => {
    return shared.every(({ site }) => site !== (config.hasSites ? name : undefined))
  })
  await out.write(`\n${words} found.${more}\n${sharing(others)}`)
  return faults === 0
}

/** The address to share the spreadsheet with; null for the local workbook, and where only Google knows it. */
export function accountOf({ spreadsheet }: Pick<SiteConfig, 'spreadsheet'>): string | null {
  const email = spreadsheet.kind === 'google' ? spreadsheet.credentials.email : noAddress
  return email === noAddress ? null : email
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
async function openJournal(subject: Subject): Promise<OpenJournal | string> {
  try {
    const opened = await subject.home.openBeside()
    await tellOtherSites(subject)
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
