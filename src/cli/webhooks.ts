import { Command, InvalidArgumentError } from '@commander-js/extra-typings'
import type { WebhookLog } from '../journal/contracts/webhook-log.ts'
import { openPresent, partOf } from '../operations/journal-home.ts'
import { pagesOf } from '../operations/pages-of.ts'
import {
  enable,
  endpointHint,
  endpointState,
  endpointWords,
  replayFrom,
  replayOne,
  testWords,
  type WebhookDone,
} from '../operations/webhooks.ts'
import { iso } from '../platform/clock.ts'
import { endpointsOf, type SiteEndpoint } from '../service/site.ts'
import { tellerOf } from '../service/teller.ts'
import { realWorld } from '../service/world.ts'
import { parseMoment } from './moment.ts'
import { type AddCommand, type Answer, command, commandsBelow, type Context } from './command.ts'
import { UsageError } from './session.ts'
import { chosenSite, chosenSites } from './settings.ts'
import { counted } from '../operations/words.ts'

/** What is done for a webhook. The JSON has all but the words. */
type Work = (
  endpoint: SiteEndpoint,
  log: WebhookLog,
  stop: AbortSignal,
) => WebhookDone | Promise<WebhookDone>

const details = `
The running service sends what is sent again, with the ids that the messages had.
Exit code 1: a webhook takes nothing or is disabled, has not taken the test, or has no such message.`

function wordsOf(name: string, description: string) {
  return new Command(name)
    .description(description)
    .argument('[number]', 'of a webhook; otherwise all are meant', parseNumber)
    .option('--site <name>', 'only this site; otherwise all')
}

function forEach(name: string, description: string, work: Work): AddCommand {
  return command(wordsOf(name, description), (context, ...given) => tell(context, given, work))
}

const state = forEach('state', 'tell how each does', async ({ key, number }, log) => {
  const found = endpointState(await log.figures(key))
  const isWell = found.state !== 'failing' && found.state !== 'disabled'
  const hint = endpointHint(found, number)
  const words = `${endpointWords(found)}${hint === undefined ? '' : `. Do: ${hint}`}`
  return { words, isWell, ...found }
})

const test = forEach('test', 'send a message that says that it is a test', async (it, _, stop) => {
  const world = { ...realWorld, http: realWorld.receiverHttp }
  const sent = await tellerOf(it, world).test(stop)
  return { ...testWords(sent), ...(sent.kind !== 'sent' && sent) }
})

const replay = command(
  wordsOf('replay', 'send messages again')
    .option('--since <time>', 'those from this date (UTC) or time on', parseMoment)
    .option('--id <id>', 'that of this signup'),
  (context, ...given) => {
    const [, { since, id = '' }] = given
    if ((since === undefined) === (id === ''))
      throw new UsageError('Give --since TIME or --id ID with replay.')
    return tell(context, given, ({ key }, log) =>
      since === undefined ? replayOne(log, key, id) : replayFrom(log, key, since),
    )
  },
)

export const addWebhooks = commandsBelow(
  new Command('webhooks')
    .description('how each webhook does; test one, or send messages again')
    .addHelpText('after', details),
  state,
  test,
  forEach('failed', 'list the messages that have failed for good', ({ key }, log) =>
    failed(key, log),
  ),
  replay,
  forEach('enable', 'send what waits now, also to a webhook that is disabled', ({ key }, log) =>
    enable(log, key),
  ),
)

interface Which {
  readonly site?: string | undefined
  readonly id?: string | undefined
}

/** Does the work for each webhook that is meant. */
async function tell(
  { config, secrets, home, stop }: Context,
  [number, { site, id }]: [number | undefined, Which],
  work: Work,
): Promise<Answer> {
  const isOne = number !== undefined || id !== undefined
  const sites = isOne ? [chosenSite(config.sites, site)] : chosenSites(config.sites, site)
  const all = sites.flatMap((one) => endpointsOf(secrets, one))
  const endpoints = all.filter((it) => number === undefined || it.number === number)
  if (endpoints.length === 0) throw new UsageError(noneOf(all))
  await using opened = await openPresent(home)
  const [webhooks, lines]: [object[], string[]] = [[], []]
  let isAllWell = true
  for (const endpoint of endpoints) {
    stop.throwIfAborted()
    const log = partOf(opened.sites, { name: endpoint.site }).webhooks
    const { words, ...facts } = await work(endpoint, log, stop)
    isAllWell &&= facts.isWell ?? true
    const where = config.hasSites ? { site: endpoint.site } : undefined
    webhooks.push({ ...where, webhook: endpoint.number, host: endpoint.host, ...facts })
    const name = `Webhook ${endpoint.number}${where ? ` of ${where.site}` : ''}`
    lines.push(`${name}, ${endpoint.host}: ${words}`)
  }
  return { report: { webhooks }, lines, isWell: isAllWell }
}

const [failedAtOnce, failedMax] = [100, 10_000]

/** Tells of at most 10,000 messages. */
async function failed(key: string, log: WebhookLog) {
  const messages = []
  for await (const page of pagesOf(failedAtOnce, (after) => log.failed(key, after))) {
    messages.push(...page.map((it) => ({ ...it, at: iso(it.at) })))
    if (messages.length >= failedMax) break
  }
  const lines = messages.map(({ id, type, at, tries, reason }) => {
    return `\n${id}  ${at}  ${type}  ${counted(tries, 'time')}: ${reason}`
  })
  return { words: `${counted(messages.length, 'message')} failed${lines.join('')}`, messages }
}

function noneOf(all: readonly SiteEndpoint[]): string {
  if (all.length === 0) return 'No webhook is set: docs/webhooks.md says how.'
  return `There is no such webhook: there are ${all.map((it) => `${it.number} (${it.host})`).join(', ')}.`
}

function parseNumber(text: string): number {
  if (/^[1-6]$/.test(text)) return Number(text)
  throw new InvalidArgumentError(
    'Right behind webhooks, say test, failed, replay or enable, or the number of one, such as 1.',
  )
}
