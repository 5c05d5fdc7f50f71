import type { ChatKind } from '../../platform/chat-kind.ts'
import { second } from '../../platform/clock.ts'
import type { WebhookMessage } from '../../journal/contracts/webhook-log.ts'
import { isRecord, parseObject } from '../../signup/json.ts'
import { post, type SendWorld } from '../webhook/send.ts'
import type { Endpoint, Teller } from '../webhook/teller.ts'
import type { Chat } from './chat.ts'
import { composeLines, type ToldSite } from './compose.ts'
import { discord } from './discord.ts'
import { googlechat } from './google-chat.ts'
import { mattermost } from './mattermost.ts'
import { slack } from './slack.ts'
import { teams } from './teams.ts'
import { telegram } from './telegram.ts'

const chats: Record<ChatKind, Chat> = { slack, discord, mattermost, googlechat, teams, telegram }

/** A channel of a chat program. Its URL is a secret. */
export interface Channel extends Endpoint, ToldSite {
  readonly chat: ChatKind
  /** How many sites tell this channel. */
  readonly sharers: number
}

/**
 * Of how many people a message tells, and how long after it the next one of a channel goes: programs take a message a
 * second, or twenty a minute, and a launch is not to flood the channel.
 */
const [most, gapMs] = [500, 5 * second]

/** Tells a channel who has signed up, without a signature. */
export function chatTeller({ key, host, url, ...channel }: Channel, world: SendWorld): Teller {
  const chat = chats[channel.chat]
  const { origin, pathname, searchParams } = new URL(url)
  const target = chat.isQueryInBody === true ? origin + pathname : url
  const say = async (messages: readonly WebhookMessage[], signal: AbortSignal) => {
    const people = messages.map(({ signup }) => signup)
    const body = JSON.stringify(chat.body(composeLines(chat, channel, people), searchParams))
    return post({ url: target, body, signal, retryAfter }, world)
  }
  return {
    ...{ key, host, together: { most, gapMs: gapMs * channel.sharers } },
    tell: say,
    test: (stop) => say([], stop),
  }
}

/** The seconds that the body of a 429 asks to wait: Discord and Telegram have them there. */
function retryAfter(text: string): number {
  const { retry_after, parameters } = parseObject(text) ?? {}
  return Number(retry_after ?? (isRecord(parameters) && parameters['retry_after'])) || 0
}
