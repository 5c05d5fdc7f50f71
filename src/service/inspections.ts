import { inspectNotices, sendTestNotice } from '../alerts/inspection.ts'
import { inspectChallenge } from '../challenge/inspection.ts'
import { createSiteverify } from '../challenge/siteverify.ts'
import type { Config } from '../config/config.ts'
import { type Secrets, secretsOf } from '../config/secrets.ts'
import type { SiteConfig } from '../config/sites/site.ts'
import type { CallLedger, Quota } from '../journal/contracts/call-ledger.ts'
import type { Journal } from '../journal/contracts/journal.ts'
import { inspectFacts } from '../operations/database-findings.ts'
import { Unreachable } from '../journal/postgres/reach.ts'
import { readServerFacts } from '../journal/postgres/server-facts.ts'
import type { Clock } from '../platform/clock.ts'
import { type Finding, findingsOf } from '../signup/finding.ts'
import { ownColumns } from '../signup/row.ts'
import { tabKey } from '../signup/signup.ts'
import { googleInspection } from '../spreadsheet/google/inspection.ts'
import type { Expected } from '../spreadsheet/inspection.ts'
import type { CallGate } from '../spreadsheet/spreadsheet.ts'
import { inspectWorkbook } from '../spreadsheet/workbook/inspection.ts'
import { workbookFolder } from './data-folder.ts'
import { destinationOf, googleOptions } from './spreadsheets.ts'
import { realWorld } from './world.ts'

export interface Inspected {
  readonly config: Config
  readonly secrets: Secrets
  readonly site: SiteConfig
}

/** The most calls to the Sheets API that a command may make to look at the spreadsheet. */
const callsMax = 6
/** Waits for the quota of a minute, but not for that of a day. */
const waitMaxMs = 70_000
const timeoutMaxMs = 15_000

/**
 * Looks at the spreadsheet of a site.
 *
 * @param journal undefined when it cannot be opened: then no call to the Sheets API is made
 * @param waits told when a call has to wait for the quota, with the milliseconds
 */
export function spreadsheetFindings(
  { config, secrets, site }: Inspected,
  journal: Journal | undefined,
  waits: (ms: number) => void,
  signal: AbortSignal,
): AsyncIterable<Finding> {
  const destination = destinationOf(site, config, secrets)
  const { spreadsheet, privateKey, workbookDir } = destination
  const expected = expectedOf(site, journal)
  if (spreadsheet.kind === 'workbook' || privateKey === undefined) {
    return inspectWorkbook(workbookDir, expected, workbookFolder('DATA_DIR', site.name))
  }
  const { credentials, quota } = spreadsheet
  const { clock, http } = realWorld
  const ledger = journal?.callLedger(credentials.email, journal.time ?? clock)
  const inspect = googleInspection({
    ...googleOptions(destination, spreadsheet, privateKey, realWorld),
    http: (request) => http({ ...request, timeoutMs: Math.min(request.timeoutMs, timeoutMaxMs) }),
    gate: boundedGate(ledger, quota, clock, waits),
  })
  return inspect(expected, signal)
}

function expectedOf(
  { defaultTab: configured, tabs = [], fields }: SiteConfig,
  journal: Journal | undefined,
): Expected {
  const defaultTab = journal?.delivery.defaultTab ?? { name: configured, isResolved: true }
  return {
    defaultTab,
    tabs: tabs.filter((tab) => tabKey(tab) !== tabKey(defaultTab.name)),
    own: ownColumns(fields),
    isOwn: async (fingerprint) => (await journal?.delivery.isOwn(fingerprint)) ?? false,
  }
}

/** Lets through a few calls, each of which the ledger has reserved. */
function boundedGate(
  ledger: CallLedger | undefined,
  quota: Quota,
  clock: Pick<Clock, 'sleep'>,
  waits: (ms: number) => void,
): CallGate {
  let calls = 0
  return async (signal) => {
    if (!ledger) throw new Error('the journal, which counts the calls, cannot be used')
    if (calls === callsMax) throw new Error(`this command makes at most ${callsMax} calls`)
    for (let wait = await ledger.reserve(quota); wait > 0; wait = await ledger.reserve(quota)) {
      if (wait > waitMaxMs) throw new Error('the quota is used up')
      waits(wait)
      await clock.sleep(wait, signal)
      signal.throwIfAborted()
    }
    calls += 1
    return true
  }
}

/** Whether the provider of the challenge knows the secret key of a site. */
export async function challengeFinding({ secrets, site }: Inspected): Promise<Finding> {
  const { challenge } = site
  const { challengeSecret: secret } = secretsOf(secrets, site)
  if (!challenge || secret === undefined) {
    return findingsOf('challenge').ok('is off: nobody has to show that they are no bot')
  }
  const names = site.settingNames.challenge
  const asked = createSiteverify({ ...challenge, ...realWorld, secret, names })
  return inspectChallenge(asked, challenge.provider, names)
}

/** The receiver of notices, when there is one. @param sendsTest sends it a notice instead of looking */
export async function noticesFindings(
  { alertWebhook }: Pick<Secrets, 'alertWebhook'>,
  journals: readonly Journal[],
  sendsTest: boolean,
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  if (!alertWebhook) return []
  const world = { ...realWorld, http: realWorld.receiverHttp }
  return [
    sendsTest
      ? await sendTestNotice(alertWebhook, world, signal)
      : await inspectNotices(alertWebhook, journals, world, signal),
  ]
}

/** From the way to the server of the journal to its settings. Changes nothing. */
export async function databaseFindings(
  { database }: Pick<Config, 'database'>,
  { databaseUrl = '' }: Pick<Secrets, 'databaseUrl'>,
): Promise<readonly Finding[]> {
  const { ok, fault } = findingsOf('database')
  try {
    const facts = await readServerFacts(databaseUrl)
    const reached = `${database?.name ?? ''} on ${database?.host ?? ''} is reached`
    return [ok(reached), ...inspectFacts(facts)]
  } catch (error) {
    if (!(error instanceof Unreachable)) throw error
    return [fault(error.reason.why, error.reason.hint)]
  }
}
