import { type Command, InvalidArgumentError } from '@commander-js/extra-typings'
import type { WebhookLog } from '../journal/contracts/webhook-log.ts'
import { partOf } from '../operations/journal-home.ts'
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
import { testWebhook } from '../service/inspections.ts'
import { endpointsOf, type SiteEndpoint } from '../service/webhooks.ts'
import { parseMoment } from './moment.ts'
import { exit, type Run, UsageError } from './session.ts'
import { chosenSite, chosenSites, readSettings } from './settings.ts'
import { counted } from '../operations/words.ts'

const details = `
Without more, it tells how each does. NUMBER is its number there; without one, all are meant.
  test     sends a message of the type webhook.test, once
  failed   lists the messages that were given up
  replay   sends messages again: --since TIME those from then on, --id ID that of a signup
  enable   sends again to a webhook that is disabled or halted, what is set aside at once
The running service sends what is sent again, with the ids that the messages had.
Exit code 1: a webhook is halted or disabled, has not taken the test, or has no such message.`

export function addWebhooks(program: Command, run: Run): void {
  program
    .command('webhooks')
    .description('how each webhook does; test one, or send messages again')
    .argument('[what]', 'test, failed, replay or enable')
    .argument('[number]', 'of a webhook', parseNumber)
    .option('--site <name>', 'only this site; otherwise all')
    .option('--since <time>', 'replay the messages from this date (UTC) or time on', parseMoment)
    .option('--id <id>', 'replay the message of this signup')
    .option('--json', 'print JSON, for programs')
    .addHelpText('after', details)
    .action((what, number, { site, json, ...which }) =>
      run(async ({ out, stop }) => {
        const work = workOf(what, which, stop)
        const { config, secrets, home } = await readSettings()
        const isOne = number !== undefined || which.id !== undefined
        const sites = isOne ? [chosenSite(config, site)] : chosenSites(config, site)
        const all = sites.flatMap((one) => endpointsOf(secrets, one))
        const endpoints = all.filter((it) => number === undefined || it.number === number)
        if (endpoints.length === 0) throw new UsageError(noneOf(all))
        // Rejects when there is no journal, instead of making one.
        await (await home.openReader())[Symbol.asyncDispose]()
        await using opened = await home.openBeside()
        const told = []
        for (const endpoint of endpoints) {
          stop.throwIfAborted()
          const log = partOf(opened.sites, { name: endpoint.site }).webhooks
          const { words, ...facts } = await work(endpoint, log)
          const where = config.hasSites ? { site: endpoint.site } : undefined
          told.push({ ...where, webhook: endpoint.number, host: endpoint.host, ...facts })
          const name = `Webhook ${endpoint.number}${where ? ` of ${where.site}` : ''}`
          if (!json) await out.lines(`${name}, ${endpoint.host}: ${words}`)
        }
        if (json) await out.json({ webhooks: told })
        return told.every(({ isWell = true }) => isWell) ? exit.done : exit.notAll
      }),
    )
}

/** The JSON has all but the words. */
type Work = (endpoint: SiteEndpoint, log: WebhookLog) => Promise<WebhookDone>

interface Which {
  readonly since?: number | undefined
  readonly id?: string | undefined
}

function workOf(what: string | undefined, { since, id }: Which, stop: AbortSignal): Work {
  if ((what === 'replay') !== ((since === undefined) !== (id === undefined)))
    throw new UsageError('Give --since TIME or --id ID with replay, and only there.')
  switch (what) {
    case undefined:
      return async ({ key, number }, log) => {
        const state = endpointState(await log.figures(key))
        const isWell = state.state !== 'halted' && state.state !== 'disabled'
        const hint = endpointHint(state, number)
        const words = `${endpointWords(state)}${hint === undefined ? '' : `. Do: ${hint}`}`
        return { words, isWell, ...state }
      }
    case 'test':
      return async (endpoint) => {
        const sent = await testWebhook(endpoint, stop)
        return { ...testWords(sent), ...(sent.kind !== 'sent' && sent) }
      }
    case 'failed':
      return async ({ key }, log) => failed(key, log)
    case 'replay':
      return ({ key }, log) =>
        since === undefined ? replayOne(log, key, id ?? '') : replayFrom(log, key, since)
    case 'enable':
      return ({ key }, log) => enable(log, key)
    default:
      throw new UsageError('Say test, failed, replay or enable.')
  }
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
  return { words: `${counted(messages.length, 'message')} given up${lines.join('')}`, messages }
}

function noneOf(all: readonly SiteEndpoint[]): string {
  if (all.length === 0) return 'No webhook is set: docs/webhooks.md says how.'
  return `There is no such webhook: there are ${all.map((it) => `${it.number} (${it.host})`).join(', ')}.`
}

function parseNumber(text: string): number {
  if (/^[1-5]$/.test(text)) return Number(text)
  throw new InvalidArgumentError('Give the number of a webhook, such as 1.')
}
