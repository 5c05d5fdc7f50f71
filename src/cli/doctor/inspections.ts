import { rollcall } from '../../platform/command-words.ts'
import { inspectNotices, sendTestNotice } from '../../alerts/inspection.ts'
import { inspectChallenge } from '../../challenge/inspection.ts'
import { createProofOfWork } from '../../challenge/proof-of-work.ts'
import { createSiteverify } from '../../challenge/siteverify.ts'
import { keyProblem } from '../../config/challenge.ts'
import { secretsOf } from '../../config/secrets.ts'
import type { SiteConfig } from '../../config/sites/site.ts'
import type { Journal } from '../../journal/contracts/journal.ts'
import { inspectFacts } from '../../operations/database-findings.ts'
import { endpointHint, endpointState, endpointWords } from '../../operations/webhooks.ts'
import { inspectReceiver } from '../../outbox/webhook/inspection.ts'
import { Unreachable } from '../../journal/postgres/reach.ts'
import { readServerFacts } from '../../journal/postgres/server-facts.ts'
import { hmacWith } from '../../platform/digest.ts'
import type { HttpClient } from '../../platform/http-client.ts'
import { type Finding, findingsOf } from '../../platform/finding.ts'
import { ownColumns } from '../../signup/row.ts'
import { tabKey } from '../../signup/signup.ts'
import { Stamps } from '../../challenge/stamps.ts'
import { findTabs, googleInspection } from '../../spreadsheet/google/inspection.ts'
import type { CallGate } from '../../spreadsheet/spreadsheet.ts'
import { inspectWorkbook } from '../../spreadsheet/workbook/inspection.ts'
import { workbookFolder } from '../../service/data-folder.ts'
import { endpointsOf, siteOf } from '../../service/site.ts'
import { googleOptions } from '../../service/spreadsheets.ts'
import { realWorld } from '../../service/world.ts'
import type { Session } from '../session.ts'
import type { Settings } from '../settings.ts'

/** What is looked at, and with what. */
export interface Inspected extends Omit<Session, 'stdin' | 'env'>, Settings {
  readonly site: SiteConfig
  /** The part of the site; undefined when the journal cannot be opened. */
  readonly journal: Journal | undefined
  /** The parts of all sites. */
  readonly parts: readonly Journal[]
  /** Why the journal cannot be opened, and what to do; empty when it is open. */
  readonly whyClosed: string
  /** Whether to send a test notice. */
  readonly sendsNotice: boolean
}

/** One concern. It yields its findings as it makes them, and throws only for mistakes of ours. */
export type Check = (inspected: Inspected) => AsyncIterable<Finding> | Promise<readonly Finding[]>

type Looking = Omit<Inspected, 'parts' | 'sendsNotice' | 'whyClosed' | 'home'>

/** The most calls to the Sheets API that a command may make to look at the spreadsheet. */
const callsMax = 6
/** Waits for the quota of a minute, but not for that of a day. */
const waitMaxMs = 70_000
const timeoutMaxMs = 15_000

/**
 * Looks at the spreadsheet of a site: from the clock and the access token to the room in it. Makes no call
 * to the Sheets API without a journal.
 */
export const spreadsheetFindings: Check = (inspected) => {
  const { config, site, journal, stop } = inspected
  const { defaultTab, tabs = [], fields, confirmation } = site
  const expected = {
    tabs: [defaultTab, ...tabs.filter((tab) => tabKey(tab) !== tabKey(defaultTab))],
    own: ownColumns(fields, confirmation),
    isOwn: async (fingerprint: string) => (await journal?.delivery.isOwn(fingerprint)) ?? false,
  }
  const google = googleOf(inspected)
  if (google) return googleInspection(google)(expected, stop)
  const folder = workbookFolder(config.dataDir, site.name)
  return inspectWorkbook(folder, expected, workbookFolder('DATA_DIR', site.name))
}

/** The tabs of a Google Sheet. */
export async function spreadsheetTabs(looking: Looking) {
  const google = googleOf(looking)
  return google && findTabs(google, looking.stop)
}

/** What it takes to look at a Google Sheet with few calls; undefined for the local workbook. */
function googleOf({ config, secrets, site, journal, notes }: Looking) {
  const { spreadsheet, signIn, settingNames } = siteOf(site, config, secrets)
  if (spreadsheet.kind === 'workbook' || signIn === undefined) return undefined
  const { credentials, quota } = spreadsheet
  const { clock } = realWorld
  const ledger = journal?.callLedger(credentials.email, journal.time ?? clock)
  let calls = 0
  /** Lets through a few calls, each of which the ledger has reserved. */
  const gate: CallGate = async (signal) => {
    if (!ledger) throw new Error('the journal, which counts the calls, cannot be used')
    if (calls === callsMax) throw new Error(`this command makes at most ${callsMax} calls`)
    for (let wait = await ledger.reserve(quota); wait > 0; wait = await ledger.reserve(quota)) {
      if (wait > waitMaxMs) throw new Error('the quota is used up')
      notes.tell(`Waiting ${Math.ceil(wait / 1000)} s for the quota.`)
      await clock.sleep(wait, signal)
      signal.throwIfAborted()
    }
    calls += 1
    return true
  }
  const http: HttpClient = (request) =>
    realWorld.http({ ...request, timeoutMs: Math.min(request.timeoutMs, timeoutMaxMs) })
  return { ...googleOptions({ settingNames }, spreadsheet, signIn, realWorld), http, gate }
}

/** Whether the keys of a site's challenge belong to its provider, which has to know the secret one. */
export const challengeFindings: Check = async ({ secrets, site, journal }) => {
  const { ok, fault, skipped } = findingsOf('challenge')
  const { challenge } = site
  if (challenge?.provider === 'altcha') {
    if (!journal) return [skipped('the journal cannot be used, and has the keys')]
    await createProofOfWork(journal, realWorld.clock).makePuzzle()
    return [ok('the proof of work is on, and its keys are in the journal')]
  }
  const { challengeSecret: secret } = secretsOf(secrets, site)
  if (!challenge || secret === undefined) {
    return [ok('is off: nobody has to show that they are no bot')]
  }
  const names = site.settingNames
  const problem = keyProblem(challenge.provider, challenge.siteKey, secret, names)
  if (problem) return [fault(problem.message, problem.hint)]
  const asked = createSiteverify({ ...challenge, ...realWorld, secret, names })
  return [await inspectChallenge(asked, challenge.provider, names)]
}

/** The receiver of notices, when there is one. */
export const noticesFindings: Check = async ({ secrets, sendsNotice, parts, stop }) => {
  const { alertWebhook } = secrets
  if (!alertWebhook) return []
  const world = { ...realWorld, http: realWorld.receiverHttp }
  if (sendsNotice) return [await sendTestNotice(alertWebhook, world, stop)]
  return [await inspectNotices(alertWebhook, parts, world, stop)]
}

/** Whether each webhook of a site answers, and what it has not taken. */
export async function* webhookFindings({
  secrets,
  site,
  journal,
  stop,
}: Inspected): AsyncIterable<Finding> {
  const check = 'webhooks'
  for (const endpoint of endpointsOf(secrets, site)) {
    const { key, number } = endpoint
    const checkIt = 'Check its URL, and whether it runs. Until it answers, its messages wait.'
    const tryIt = rollcall(`webhooks test ${number}`)
    const words = { check, to: `number ${number} goes to`, checkIt, tryIt }
    yield await inspectReceiver(endpoint, words, { http: realWorld.receiverHttp }, stop)
    const state = endpointState(await journal?.webhooks.figures(key))
    const hint = endpointHint(state, number)
    if (hint === undefined) continue
    yield findingsOf(check).warning(`number ${number}: ${endpointWords(state)}`, hint)
  }
}

/** Whether mail can be sent, and whether the links in it lead here. */
export const mailFindings: Check = async ({ config, secrets, site, journal, stop }) => {
  const { mail } = config
  if (!mail || secrets.mailUrl === undefined) return []
  // The library takes a while to load.
  const { inspectMailServer, inspectPublicUrl } = await import('../../outbox/mail/inspection.ts')
  const { http, clock } = realWorld
  const server = await inspectMailServer(secrets.mailUrl, mail.from, stop)
  if (!journal) return [server, findingsOf('links').skipped('the journal cannot be used')]
  const stamps = new Stamps(hmacWith(journal.keyFor('stamp')), clock)
  const url = `${mail.publicUrl}/api/stamp${config.hasSites ? `?site=${site.name}` : ''}`
  return [server, await inspectPublicUrl(url, (stamp) => stamps.isOurs(stamp), http, stop)]
}

/** From the way to the server of the journal to its settings. Changes nothing. */
export const databaseFindings: Check = async ({ config: { database }, secrets }) => {
  const { databaseUrl = '' } = secrets
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
