import type { Challenge } from '../challenge/challenge.ts'
import { isTestSecret, widgetOf } from '../challenge/providers.ts'
import { createSiteverify } from '../challenge/siteverify.ts'
import type { Config } from '../config/config.ts'
import type { Secrets } from '../config/secrets.ts'
import { ApiKeys } from '../http/api-keys.ts'
import { ArrivingBodies } from '../http/body.ts'
import { Admission } from '../intake/admission.ts'
import { Turns } from '../intake/idempotency.ts'
import { Waiting } from '../intake/waiting.ts'
import type { Journal } from '../journal/journal.ts'
import type { Events } from '../ops/events.ts'
import type { Health } from '../ops/health.ts'
import type { Logger } from '../ops/log.ts'
import { signupIds } from '../signup/id.ts'
import { tabsByKey } from '../signup/tab.ts'
import { readAssets } from './files.ts'
import { createIntake, type Intake } from './routes.ts'
import type { World } from './world.ts'

export interface WebOptions {
  readonly config: Config
  readonly secrets: Secrets
  readonly journal: Journal
  readonly events: Events
  readonly health: Health
  readonly log: Logger
}

/** The HTTP application, not listening yet. */
export interface Web {
  readonly intake: Intake
  /** Answers everybody who waits for a row, at once. */
  stopWaiting(): void
}

/** Builds all that answers requests. */
export async function createWeb(
  { config, secrets, journal, events, health, log }: WebOptions,
  { clock, http }: Pick<World, 'clock' | 'http'>,
): Promise<Web> {
  const challenge = createChallenge({ config, secrets, events }, { clock, http })
  const waiting = new Waiting({ journal: journal.intake, health, clock })
  const { bodyBytesMax, bulkItemsMax, pages } = config
  const { allowedOrigins, allowedHosts, trustedProxies, signupsPerMinute } = config
  const intake = createIntake({
    journal: journal.intake,
    reader: journal.reader,
    events,
    health,
    log,
    clock,
    newId: signupIds(),
    tabs: tabsOf(config, journal),
    turns: new Turns(),
    admission: new Admission({ challenge, events }),
    widget: widgetOf(config.challenge ?? { provider: 'turnstile', siteKey: null }),
    waiting,
    apiKeys: new ApiKeys(secrets.apiKeys, () => events.apiKeyRefused()),
    bodyBytesMax,
    arriving: new ArrivingBodies(),
    bulkItemsMax,
    allowedOrigins,
    allowedHosts,
    trustedProxies,
    signupsPerMinute,
    pages,
    assets: await readAssets(config, log),
  })
  return { intake, stopWaiting: () => waiting.stop() }
}

function tabsOf({ defaultTabOf, sheetTabs }: Config, journal: Journal) {
  return {
    /** It may get its name while we run. */
    get defaultTab() {
      return journal.intake.defaultTab.name
    },
    // The same before and after, so that a request that is repeated is the same.
    absentTab: defaultTabOf === undefined ? undefined : '',
    knownTabs: tabsByKey(sheetTabs ?? []),
    onlyKnownTabs: sheetTabs !== undefined,
  }
}

function createChallenge(
  { config, secrets, events }: Pick<WebOptions, 'config' | 'secrets' | 'events'>,
  world: Pick<World, 'clock' | 'http'>,
): Challenge | undefined {
  const { challenge } = config
  const { challengeSecret: secret } = secrets
  if (!challenge || secret === undefined) return undefined
  events.challengeStarted(challenge.provider, isTestSecret(challenge.provider, secret))
  return createSiteverify({ ...challenge, ...world, secret })
}
