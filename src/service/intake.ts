import type { Challenge } from '../challenge/challenge.ts'
import { isTestSecret } from '../challenge/providers.ts'
import { createSiteverify } from '../challenge/siteverify.ts'
import { arrivingBytesMax, type BodyLimits } from '../http/body.ts'
import { Budget } from '../http/budget.ts'
import { Turns } from '../intake/idempotency.ts'
import type { Intake } from '../intake/accept.ts'
import { Waiting } from '../intake/waiting.ts'
import { limits } from '../signup/limits.ts'
import type { Config } from '../config/config.ts'
import { type Secrets, secretsOf } from '../config/secrets.ts'
import type { SiteConfig } from '../config/sites/site.ts'
import type { IntakeLog } from '../journal/contracts/intake-log.ts'
import type { Events } from '../ops/events.ts'
import type { Health } from '../ops/health.ts'
import type { World } from './world.ts'

export interface IntakeOptions {
  readonly config: Config
  readonly site: SiteConfig
  readonly secrets: Secrets
  readonly journal: IntakeLog
  readonly events: Events
  readonly health: Health
  /** Makes the ids of all sites. */
  readonly newId: Intake['newId']
}

/** The memory for bodies that arrive, which the intakes of all sites share. */
export function bodyLimits({ bodyBytesMax }: Pick<Config, 'bodyBytesMax'>): BodyLimits {
  return {
    bytesMax: bodyBytesMax,
    formFieldsMax: limits.formFieldsMax,
    arriving: new Budget({ max: arrivingBytesMax, clientMax: arrivingBytesMax }),
  }
}

/** Builds the parts that accept the signups of a site, from the body to the journal. */
export function createIntake(
  { config, site, secrets, journal, events, health, newId }: IntakeOptions,
  { clock, http, digest }: Pick<World, 'clock' | 'http' | 'digest'>,
  { tabs, people }: Pick<Intake, 'tabs' | 'people'>,
): Intake {
  const challenge = createChallenge({ site, secrets, events }, { clock, http })
  return {
    journal,
    events,
    clock,
    tabs,
    people,
    newId,
    turns: new Turns(),
    digest,
    challenge,
    waiting: new Waiting({ journal, health, clock }),
    bulkItemsMax: config.bulkItemsMax,
  }
}

function createChallenge(
  { site, secrets, events }: Pick<IntakeOptions, 'site' | 'secrets' | 'events'>,
  world: Pick<World, 'clock' | 'http'>,
): Challenge | undefined {
  const { challenge } = site
  const { challengeSecret: secret } = secretsOf(secrets, site)
  if (!challenge || secret === undefined) return undefined
  events.challengeStarted(challenge.provider, isTestSecret(challenge.provider, secret))
  return createSiteverify({ ...challenge, ...world, secret, names: site.settingNames.challenge })
}
