import { publicConfig } from '../api/config.ts'
import { signupStatus } from '../api/status.ts'
import type { Challenge } from '../challenge/challenge.ts'
import { createProofOfWork } from '../challenge/proof-of-work.ts'
import { widgetOf } from '../challenge/providers.ts'
import { createSiteverify } from '../challenge/siteverify.ts'
import { json } from '../http/answer.ts'
import type { Exchange } from '../http/exchange.ts'
import type { Intake } from '../intake/take.ts'
import { refusalOf } from '../intake/store.ts'
import { Turns } from '../intake/idempotency.ts'
import { Waiting } from '../intake/waiting.ts'
import { unlessUnavailable } from '../journal/contracts/errors.ts'
import { LinkTokens } from '../outbox/mail/links.ts'
import { missingInPosted, sendOn } from '../pages/form-post.ts'
import { linkPages, type LinkPagesOptions } from '../pages/link-pages.ts'
import { noticeText } from '../pages/notice.ts'
import { pageRoutes } from '../pages/page-routes.ts'
import { viewOf } from '../pages/view.ts'
import { type SpamCounts, SpamFilter } from '../intake/spam-filter.ts'
import type { Clock } from '../platform/clock.ts'
import { hmacWith } from '../platform/digest.ts'
import type { StaticFile } from '../platform/static-file.ts'
import { closes } from '../signup/closing.ts'
import { Stamps } from '../challenge/stamps.ts'
import { siteFiles } from './files.ts'
import { parseContext, type RunningSite, type ServiceParts } from './site.ts'
import type { World } from './world.ts'

/** What the HTTP routes need of one site. */
export type SiteWeb = ReturnType<typeof siteWeb>

/** What the sites of a service share. */
export interface Common extends Pick<ServiceParts, 'config' | 'world'> {
  /** Makes the ids of all sites. */
  readonly newId: Intake['newId']
  readonly spamCounts: SpamCounts
  /** The domains of throw-away addresses that are known. */
  readonly throwAwayDomains: Pick<ReadonlySet<string>, 'has'>
  readonly assets: readonly StaticFile[]
}

/** Builds the HTTP side of one site. */
export function siteWeb(site: RunningSite, common: Common) {
  const { journal, events, health, confirmation, page, spam } = site
  const { config, world, newId } = common
  const clock = journal.time ?? world.clock
  const confirms = confirmation === 'mail'
  const proofOfWork =
    site.challenge?.provider === 'altcha' ? createProofOfWork(journal, world.clock) : undefined
  const challenge = proofOfWork ?? createChallenge(site, world)
  if (challenge) events.challengeStarted(site.challenge?.provider ?? '', challenge.isForTests)
  const stamps = new Stamps(hmacWith(journal.keyFor('stamp')), clock)
  const contexts = {
    api: parseContext('api', site),
    form: parseContext('form', site),
    bulk: parseContext('bulk', site),
  }
  const pageOptions = {
    pages: page,
    site: config.hasSites ? site.name : undefined,
    widget: widgetOf(
      site.challenge ?? { provider: 'turnstile', siteKey: null },
      config.hasSites ? `?site=${site.name}` : '',
    ),
    ...{ fields: site.fields, confirms, closesAt: site.closing.at, closes: closes(site.closing) },
    /** What becomes of a new signup now, as far as this process knows. Looks into no journal. */
    openness: () => journal.intake.openness(world.clock.now()),
    ...(spam.filter !== 'off' && { stamp: () => stamps.make() }),
    allowedOrigins: site.origins,
    tabs: contexts.form,
    events,
    // While the journal is unavailable, show the form as if the tab were allowed.
    takesTab: async (tab: string, client: string | undefined) =>
      (await unlessUnavailable(journal.intake.takesTab(tab, world.clock.now(), client))) ?? true,
  }
  const intake: Intake = {
    ...{ journal: journal.intake, events, contexts, newId, challenge, clock: world.clock },
    people: {
      missing: (exchange, fields) => missingInPosted(exchange, fields, pageOptions),
      sendOn: (exchange, redirect, isWaiting) => sendOn(exchange, redirect, isWaiting, pageOptions),
    },
    mail: confirms || site.mail.welcome ? { confirms, language: page.language } : undefined,
    turns: new Turns(),
    waiting: new Waiting({ journal: journal.intake, health, clock: world.clock }),
    bulkItemsMax: config.bulkItemsMax,
    spamFilter: spam.filter === 'off' ? undefined : filterOf(site, stamps, clock, common),
  }
  return {
    intake,
    pageOptions,
    pages: [
      ...pageRoutes(pageOptions),
      ...linkPages({
        ...pageOptions,
        publicUrl: config.mail?.publicUrl,
        decide: decider(site, new LinkTokens(hmacWith(journal.linkKey)), clock),
      }),
    ],
    files: siteFiles(pageOptions, common.assets),
    /** `GET /api/config`. */
    config: ({ request }: Pick<Exchange, 'request'>) =>
      publicConfig({ ...config, ...pageOptions }, noticeText(viewOf(request, pageOptions))),
    /** `GET /api/stamp`, also where the filter is off: forms that ask for it stay in caches. */
    stamp: () => json('ok', { stamp: stamps.make() }),
    /** Makes a puzzle; undefined when the site has no proof of work. */
    makePuzzle: proofOfWork?.makePuzzle,
    /** `GET /api/signup/:id`. */
    status: ({ params }: Exchange) =>
      signupStatus(params['id'] ?? '', (id) => journal.intake.find(id)),
  }
}

function filterOf(
  { name: site, fields, spam }: RunningSite,
  stamps: Stamps,
  clock: Pick<Clock, 'elapsed'>,
  { spamCounts: counts, throwAwayDomains }: Common,
): SpamFilter {
  return new SpamFilter({
    ...{ site, fields, stamps, counts, clock },
    quarantines: spam.filter === 'quarantine',
    domains: [throwAwayDomains, new Set(spam.domains)],
  })
}

/** The challenge of a provider; undefined when the site has none. */
function createChallenge(
  { challenge, challengeSecret: secret, settingNames }: RunningSite,
  world: World,
): Challenge | undefined {
  if (!challenge || challenge.provider === 'altcha' || secret === undefined) return undefined
  return createSiteverify({ ...challenge, ...world, secret, names: settingNames })
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
      const now = clock.now()
      const before = decision === 'leave' ? await confirmation.look(message, now) : undefined
      const link = await confirmation[decision](message, now)
      if (link?.rowStays && before?.rowStays === false) events.leftRowStays()
      return link
    } catch (error) {
      throw refusalOf(error, { requestId }, { events })
    }
  }
}
