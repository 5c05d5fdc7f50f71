import { providers } from '../challenge/providers.ts'
import { createSiteverify } from '../challenge/siteverify.ts'
import type { Config } from '../config/config.ts'
import type { SiteSecrets } from '../config/secrets.ts'
import type { SiteConfig } from '../config/site.ts'
import type { CallLedger, Quota } from '../journal/contracts/call-ledger.ts'
import type { Journal } from '../journal/contracts/journal.ts'
import type { Clock } from '../platform/clock.ts'
import { googleInspection } from '../spreadsheet/google/inspection.ts'
import { ownColumns } from '../signup/row.ts'
import { tabKey } from '../signup/signup.ts'
import type { Expected, Finding } from '../spreadsheet/inspection.ts'
import type { CallGate } from '../spreadsheet/spreadsheet.ts'
import { inspectWorkbook } from '../spreadsheet/workbook/inspection.ts'
import { workbookFolder } from './data-folder.ts'
import { realWorld } from './world.ts'

export interface InspectOptions {
  readonly site: SiteConfig
  readonly secrets: SiteSecrets
  readonly dataDir: Config['dataDir']
  /** Undefined when it cannot be opened: then no call to the Sheets API is made. */
  readonly journal: Journal | undefined
  /** Told when a call has to wait for the quota, with the milliseconds. */
  readonly waits: (ms: number) => void
  readonly signal: AbortSignal
}

/** The most calls to the Sheets API that a command may make to look at the spreadsheet. */
const callsMax = 6
/** Waits for the quota of a minute, but not for that of a day. */
const waitMaxMs = 70_000
const timeoutMaxMs = 15_000

/** Looks at the spreadsheet of the settings. */
export function inspectSpreadsheet(options: InspectOptions): AsyncIterable<Finding> {
  const { site, secrets, dataDir, journal, signal } = options
  const { spreadsheet: settings } = site
  const expected = expectedOf(site, journal)
  if (settings.kind === 'workbook' || secrets.privateKey === undefined) {
    const place = workbookFolder('DATA_DIR', site.name)
    return inspectWorkbook(workbookFolder(dataDir, site.name), expected, place)
  }
  const { credentials, spreadsheetId, apiUrl, tokenUrl, quota } = settings
  const { clock, digest, http } = realWorld
  const ledger = journal?.callLedger(credentials.email, journal.time ?? clock)
  const inspect = googleInspection({
    access: { email: credentials.email, spreadsheetId, setting: site.settingNames.spreadsheet },
    sign: realWorld.signWith(secrets.privateKey),
    apiUrl,
    tokenUrl,
    http: (request) => http({ ...request, timeoutMs: Math.min(request.timeoutMs, timeoutMaxMs) }),
    clock,
    digest,
    gate: boundedGate(ledger, quota, clock, options.waits),
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

/** Asks the provider of the challenge about a made-up token: its answer tells whether it knows the secret key. */
export async function inspectChallenge(
  { challenge, settingNames }: Pick<SiteConfig, 'challenge' | 'settingNames'>,
  { challengeSecret: secret }: Pick<SiteSecrets, 'challengeSecret'>,
): Promise<Finding> {
  const check = 'challenge'
  if (!challenge || secret === undefined) {
    return { check, state: 'ok', message: 'is off: nobody has to show that they are no bot' }
  }
  const names = settingNames.challenge
  const asked = createSiteverify({ ...challenge, ...realWorld, secret, names })
  const { title } = providers[challenge.provider]
  if (asked.isForTests) {
    return {
      check,
      state: 'fault',
      message: `has the test keys of ${title}: they keep no bot out`,
      hint: `Make a site at ${title}, and set ${names.siteKey} and ${names.secretKey} to its two keys.`,
    }
  }
  const verdict = await asked.verify({
    token: 'rollcall-doctor',
    submissionId: crypto.randomUUID(),
  })
  switch (verdict.kind) {
    case 'misconfigured':
      return { check, state: 'fault', message: verdict.message, hint: verdict.hint }
    case 'unavailable': {
      const hint =
        'Check that this machine reaches the provider, and CHALLENGE_VERIFY_URL if you have set it. ' +
        'Until then signups are answered with 503.'
      return { check, state: 'fault', message: verdict.message, hint }
    }
    case 'passed':
    case 'rejected':
      return { check, state: 'ok', message: `${title} knows the secret key` }
  }
}
