import { inspectNotices, sendTestNotice } from '../alerts/inspection.ts'
import { inspectChallenge } from '../challenge/inspection.ts'
import { createProofOfWork } from '../challenge/proof-of-work.ts'
import { createSiteverify } from '../challenge/siteverify.ts'
import { keyProblem } from '../config/challenge.ts'
import type { Config } from '../config/config.ts'
import { type Secrets, secretsOf } from '../config/secrets.ts'
import type { SiteConfig } from '../config/sites/site.ts'
import type { CallLedger, Quota } from '../journal/contracts/call-ledger.ts'
import type { Journal } from '../journal/contracts/journal.ts'
import { inspectFacts } from '../operations/database-findings.ts'
import { endpointHint, endpointState, endpointWords } from '../operations/webhooks.ts'
import { inspectReceiver } from '../outbox/webhook/inspection.ts'
import { sendMessage } from '../outbox/webhook/send.ts'
import { Unreachable } from '../journal/postgres/reach.ts'
import { readServerFacts } from '../journal/postgres/server-facts.ts'
import { type Clock, iso } from '../platform/clock.ts'
import { type Finding, findingsOf } from '../signup/finding.ts'
import { ownColumns } from '../signup/row.ts'
import { tabKey } from '../signup/signup.ts'
import { Stamps } from '../signup/stamps.ts'
import { googleInspection } from '../spreadsheet/google/inspection.ts'
import type { Expected } from '../spreadsheet/inspection.ts'
import type { CallGate } from '../spreadsheet/spreadsheet.ts'
import { inspectWorkbook } from '../spreadsheet/workbook/inspection.ts'
import { workbookFolder } from './data-folder.ts'
import { destinationOf, googleOptions } from './spreadsheets.ts'
import { endpointsOf, type SiteEndpoint } from './webhooks.ts'
import { realWorld } from './world.ts'

/** What is looked at, and for whom. */
export interface Inspected {
  readonly config: Config
  readonly secrets: Secrets
  readonly site: SiteConfig
  /** The part of the site; undefined when the journal cannot be opened. */
  readonly journal: Journal | undefined
  /** The parts of all sites. */
  readonly parts: readonly Journal[]
  /** Whether to send a test notice. */
  readonly sendsNotice: boolean
  readonly session: {
    readonly stop: AbortSignal
    /** Told when something has to wait. */
    readonly notes: { tell(text: string): void }
  }
}

/** The most calls to the Sheets API that a command may make to look at the spreadsheet. */
const callsMax = 6
/** Waits for the quota of a minute, but not for that of a day. */
const waitMaxMs = 70_000
const timeoutMaxMs = 15_000

/**
 * Looks at the spreadsheet of a site: from the clock and the access token to the room in it. Makes no call
 * to the Sheets API without a journal.
 */
export function spreadsheetFindings(inspected: Inspected): AsyncIterable<Finding> {
  const { config, secrets, site, journal, session } = inspected
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
    gate: boundedGate(ledger, quota, clock, session.notes),
  })
  return inspect(expected, session.stop)
}

function expectedOf(
  { defaultTab: configured, tabs = [], fields, confirmation }: SiteConfig,
  journal: Journal | undefined,
): Expected {
  const defaultTab = journal?.delivery.defaultTab ?? { name: configured, isResolved: true }
  return {
    defaultTab,
    tabs: tabs.filter((tab) => tabKey(tab) !== tabKey(defaultTab.name)),
    own: ownColumns(fields, confirmation),
    isOwn: async (fingerprint) => (await journal?.delivery.isOwn(fingerprint)) ?? false,
  }
}

/** Lets through a few calls, each of which the ledger has reserved. */
function boundedGate(
  ledger: CallLedger | undefined,
  quota: Quota,
  clock: Pick<Clock, 'sleep'>,
  notes: Inspected['session']['notes'],
): CallGate {
  let calls = 0
  return async (signal) => {
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
}

/** Whether the keys of a site's challenge belong to its provider, which has to know the secret one. */
export async function challengeFindings({
  secrets,
  site,
  journal,
}: Inspected): Promise<readonly Finding[]> {
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
  const names = site.settingNames.challenge
  const problem = keyProblem(challenge.provider, challenge.siteKey, secret, names)
  if (problem) return [fault(problem.message, problem.hint)]
  const asked = createSiteverify({ ...challenge, ...realWorld, secret, names })
  return [await inspectChallenge(asked, challenge.provider, names)]
}

/** The receiver of notices, when there is one. */
export async function noticesFindings(inspected: Inspected): Promise<readonly Finding[]> {
  const { alertWebhook } = inspected.secrets
  const { stop } = inspected.session
  if (!alertWebhook) return []
  const world = { ...realWorld, http: realWorld.receiverHttp }
  if (inspected.sendsNotice) return [await sendTestNotice(alertWebhook, world, stop)]
  return [await inspectNotices(alertWebhook, inspected.parts, world, stop)]
}

/** Sends a message that says that it is a test, once. */
export function testWebhook(endpoint: SiteEndpoint, stop: AbortSignal) {
  const timestamp = iso(realWorld.clock.now())
  const body = JSON.stringify({ type: 'webhook.test', timestamp, data: { site: endpoint.site } })
  const world = { ...realWorld, http: realWorld.receiverHttp }
  return sendMessage(endpoint, { id: `msg_${crypto.randomUUID()}`, body }, world, stop)
}

/** Whether each webhook of a site answers, and what it has not taken. */
export async function* webhookFindings(inspected: Inspected): AsyncIterable<Finding> {
  const { secrets, site, journal, session } = inspected
  const check = 'webhooks'
  for (const endpoint of endpointsOf(secrets, site)) {
    const { key, number } = endpoint
    const checkIt = 'Check its URL, and whether it runs. Until it answers, its messages wait.'
    const tryIt = `rollcall webhooks test ${number}`
    const words = { check, to: `number ${number} goes to`, checkIt, tryIt }
    yield await inspectReceiver(endpoint, words, { http: realWorld.receiverHttp }, session.stop)
    const state = endpointState(await journal?.webhooks.figures(key))
    const hint = endpointHint(state, number)
    if (hint === undefined) continue
    yield findingsOf(check).warning(`number ${number}: ${endpointWords(state)}`, hint)
  }
}

/** Whether mail can be sent, and whether the links in it lead here. */
export async function mailFindings(inspected: Inspected): Promise<readonly Finding[]> {
  const { config, secrets, site, journal } = inspected
  const { mail } = config
  if (!mail || secrets.mailUrl === undefined) return []
  // The library takes a while to load.
  const { inspectMailServer, inspectPublicUrl } = await import('../outbox/mail/inspection.ts')
  const { stop } = inspected.session
  const { http, clock, hmacWith } = realWorld
  const server = await inspectMailServer(secrets.mailUrl, mail.from, stop)
  if (!journal) return [server, findingsOf('links').skipped('the journal cannot be used')]
  const stamps = new Stamps(hmacWith(journal.keyFor('stamp')), clock)
  const url = `${mail.publicUrl}/api/stamp${config.hasSites ? `?site=${site.name}` : ''}`
  return [server, await inspectPublicUrl(url, (stamp) => stamps.isOurs(stamp), http, stop)]
}

/** From the way to the server of the journal to its settings. Changes nothing. */
export async function databaseFindings(inspected: Inspected): Promise<readonly Finding[]> {
  const { database } = inspected.config
  const { databaseUrl = '' } = inspected.secrets
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
