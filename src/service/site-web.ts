import { type PublicSettings, publicConfig } from '../api/config.ts'
import { signupStatus } from '../api/status.ts'
import type { Challenge } from '../challenge/challenge.ts'
import { createProofOfWork, type ProofOfWork } from '../challenge/proof-of-work.ts'
import { widgetOf } from '../challenge/providers.ts'
import { createSiteverify } from '../challenge/siteverify.ts'
import type { Config } from '../config/config.ts'
import { type Secrets, secretsOf } from '../config/secrets.ts'
import type { SiteConfig } from '../config/sites/site.ts'
import { json } from '../http/answer.ts'
import type { Exchange } from '../http/exchange.ts'
import type { Intake } from '../intake/accept.ts'
import { refusalOf } from '../intake/submit.ts'
import { Turns } from '../intake/idempotency.ts'
import type { VisitorMail } from '../intake/submit.ts'
import { Waiting } from '../intake/waiting.ts'
import { unlessUnavailable } from '../journal/contracts/errors.ts'
import { LinkTokens } from '../outbox/mail/links.ts'
import { type FormPostOptions, missingInPosted, sendOn } from '../pages/form-post.ts'
import { linkPages, type LinkPagesOptions } from '../pages/link-pages.ts'
import { pageRoutes } from '../pages/page-routes.ts'
import type { ParseContext } from '../signup/parse.ts'
import { type SpamCounts, SpamFilter } from '../signup/spam-filter.ts'
import { Stamps } from '../signup/stamps.ts'
import { SiteFiles } from './files.ts'
import type { RunningSite } from './running-site.ts'
import { parseContext } from './parse-context.ts'
import type { World } from './world.ts'

/** What the HTTP routes need of one site. */
export type SiteWeb = ReturnType<typeof siteWeb>

/** What the sites of a service share. */
export interface SiteWebOptions {
  readonly config: Config
  readonly secrets: Secrets
  /** Makes the ids of all sites. */
  readonly newId: Intake['newId']
  readonly spamCounts: SpamCounts
  /** The domains of throw-away addresses that are known. */
  readonly throwAwayDomains: ReadonlySet<string>
}

type WebWorld = Pick<World, 'clock' | 'http' | 'digest' | 'hmacWith'>

/** Builds the HTTP side of one site. */
export function siteWeb(running: RunningSite, options: SiteWebOptions, world: WebWorld) {
  const { config: site, journal, events } = running
  const { config } = options
  const proofOfWork =
    site.challenge?.provider === 'altcha' ? createProofOfWork(journal, world.clock) : undefined
  const clock = journal.time ?? world.clock
  const stamps = new Stamps(world.hmacWith(journal.keyFor('stamp')), clock)
  const pageOptions = {
    pages: site.page,
    site: config.hasSites ? site.name : undefined,
    widget: widgetOf(
      site.challenge ?? { provider: 'turnstile', siteKey: null },
      config.hasSites ? `?site=${site.name}` : '',
    ),
    fields: site.fields,
    confirms: site.confirmation === 'mail',
    ...(site.spam.filter !== 'off' && { stamp: () => stamps.make() }),
    allowedOrigins: site.origins,
    tabs: parseContext('form', site, journal),
    events,
    // While the journal is unavailable, show the form as if the tab were allowed.
    takesTab: async (tab: string, client: string | undefined) =>
      (await unlessUnavailable(journal.intake.takesTab(tab, world.clock.now(), client))) ?? true,
  }
  const settings: PublicSettings = { ...config, ...pageOptions }
  const filtering = {
    ...{ site: site.name, fields: site.fields, stamps, counts: options.spamCounts, clock },
    quarantines: site.spam.filter === 'quarantine',
    domains: [options.throwAwayDomains, new Set(site.spam.domains)],
  }
  return {
    intake: {
      ...createIntake(running, options, pageOptions, world, proofOfWork),
      spamFilter: site.spam.filter === 'off' ? undefined : new SpamFilter(filtering),
    },
    pageOptions,
    pages: [
      ...pageRoutes(pageOptions),
      ...linkPages({
        ...pageOptions,
        publicUrl: config.mail?.publicUrl,
        decide: decider(running, new LinkTokens(world.hmacWith(journal.linkKey)), clock),
      }),
    ],
    files: new SiteFiles(pageOptions),
    /** `GET /api/config`. */
    config: () => publicConfig(settings),
    /** `GET /api/stamp`, also where the filter is off: forms that ask for it stay in caches. */
    stamp: () => json('ok', { stamp: stamps.make() }),
    /** Makes a puzzle; undefined when the site has no proof of work. */
    makePuzzle: proofOfWork?.makePuzzle,
    /** `GET /api/signup/:id`. */
    status: ({ params }: Exchange) =>
      signupStatus(params['id'] ?? '', (id) => journal.intake.find(id)),
  }
}

/** What the links of a site's mails decide. Only the journal of a token of ours is asked. */
function decider(
  { journal: { confirmation }, events }: Pick<RunningSite, 'journal' | 'events'>,
  tokens: LinkTokens,
  clock: Pick<World['clock'], 'now'>,
): LinkPagesOptions['decide'] {
  return async (purpose, token, decision, requestId) => {
    const message = tokens.find(purpose, token)
    if (message === undefined) return undefined
    try {
      return await confirmation[decision](message, clock.now())
    } catch (error) {
      throw refusalOf(error, { requestId }, { events })
    }
  }
}

/** Builds the parts that accept the signups of a site, from the body to the journal. */
function createIntake(
  { config: site, journal, events, health }: RunningSite,
  { config, secrets, newId }: SiteWebOptions,
  pageOptions: FormPostOptions & { readonly tabs: ParseContext },
  { clock, http, digest }: WebWorld,
  proofOfWork: ProofOfWork | undefined,
): Intake {
  const challenge = proofOfWork ?? createChallenge(site, secrets, { clock, http })
  if (challenge) events.challengeStarted(site.challenge?.provider ?? '', challenge.isForTests)
  return {
    journal: journal.intake,
    events,
    clock,
    contexts: {
      api: parseContext('api', site, journal),
      form: pageOptions.tabs,
      bulk: parseContext('bulk', site, journal),
    },
    people: {
      missing: (exchange, fields) => missingInPosted(exchange, fields, pageOptions),
      sendOn: (exchange, redirect) => sendOn(exchange, redirect, pageOptions),
    },
    newId,
    mail: mailOf(site),
    turns: new Turns(),
    digest,
    challenge,
    waiting: new Waiting({ journal: journal.intake, health, clock }),
    bulkItemsMax: config.bulkItemsMax,
  }
}

/** The mails that visitors get. */
function mailOf({ confirmation, mail, page: { language } }: SiteConfig): VisitorMail | undefined {
  const confirms = confirmation === 'mail'
  return confirms || mail.welcome ? { confirms, language } : undefined
}

function createChallenge(
  site: SiteConfig,
  secrets: Secrets,
  world: Pick<World, 'clock' | 'http'>,
): Challenge | undefined {
  const { challenge } = site
  const { challengeSecret: secret } = secretsOf(secrets, site)
  if (!challenge || challenge.provider === 'altcha' || secret === undefined) return undefined
  return createSiteverify({ ...challenge, ...world, secret, names: site.settingNames.challenge })
}
