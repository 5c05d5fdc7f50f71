/**
 * The channels of six chat programs on 127.0.0.1, after their documentation. A post that its program would refuse is
 * refused in the program's own form: a wrong member, a text that is too long, posts too soon after another. What is
 * taken is kept as readers see it, with all in it that mentions somebody, links or formats.
 */
import { text as textOfRequest } from 'node:stream/consumers'
import { startLoopbackServer } from './loopback-server.ts'

export interface ChatPost {
  readonly program: ChatProgram
  readonly at: number
  /** As readers see it. */
  readonly text: string
  /** Whatever is more than text. */
  readonly effects: readonly string[]
  readonly body: string
}

export type ChatProgram = keyof typeof programs

interface Answer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly text?: string
}

/** A text as readers see it, and the parts of it that may have an effect. */
interface Read {
  readonly text: string
  readonly live: string
  /** How long it is with its marks. */
  readonly length: number
}

type Json = Readonly<Record<string, unknown>>

interface Program {
  readonly path: string
  /** The least time between two posts. */
  readonly gapMs: number
  /** The most that a text may have in UTF-16 units, and a body in bytes. */
  readonly charactersMax: number
  readonly bytesMax: number
  /** The members that a body may have. */
  readonly members: readonly string[]
  /** @throws Error that says what is wrong */
  readonly read: (body: Json) => Read
  readonly taken: Answer
  readonly refused: (problem: string) => Answer
  readonly busy: (seconds: number) => Answer
}

const json = (value: unknown) => JSON.stringify(value)
const entities: Readonly<Record<string, string>> = { '&amp;': '&', '&lt;': '<', '&gt;': '>' }

function memberOf(body: Json, name: string): string {
  const value = body[name]
  if (typeof value !== 'string' || value === '') throw new Error(`${name} is no text`)
  return value
}

/** A kind of Markdown: code has no effect, but for what the program replaces before it looks for code. */
function markdown(raw: string, replaced: RegExp): Read {
  const text = raw.replaceAll(/`([^`\n]+)`/g, '$1')
  const live = [raw.replaceAll(/`[^`\n]+`/g, ''), ...(raw.match(replaced) ?? [])].join('\n')
  return { text, live, length: raw.length }
}

/** All texts of a card. Those of a TextBlock are Markdown, those of a TextRun are not. */
function cardOf(body: Json): Read {
  const runs: string[] = []
  const blocks: string[] = []
  const walk = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    const { type, text } = value as Json
    if (type === 'TextRun') runs.push(String(text))
    if (type === 'TextBlock') blocks.push(String(text))
    if ('msteams' in value) blocks.push('@msteams')
    Object.values(value).forEach(walk)
  }
  const [attachment] = body['attachments'] as readonly Json[]
  const { type, version } = attachment?.['content'] as Json
  const form = [body['type'], attachment?.['contentType'], type, version]
  const wanted = ['message', 'application/vnd.microsoft.card.adaptive', 'AdaptiveCard', '1.2']
  if (json(form) !== json(wanted)) throw new Error('it is no card')
  walk(body)
  const text = [...runs, ...blocks].join('\n')
  return { text, live: blocks.join('\n'), length: text.length }
}

const slackLike = /<[!@#][^>]*>|<https?:[^>]*>/g
const seconds = (after: number) => ({ 'retry-after': String(after) })
const usual = { gapMs: 1_000, bytesMax: 1_000_000 }

const programs = {
  slack: {
    ...{ ...usual, path: '/services/T0000/B0000/secret', charactersMax: 40_000 },
    members: ['text', 'blocks', 'mrkdwn', 'unfurl_links', 'unfurl_media'],
    read: (body) => {
      const read = markdown(memberOf(body, 'text'), slackLike)
      return { ...read, text: read.text.replaceAll(/&(amp|lt|gt);/g, (it) => entities[it] ?? it) }
    },
    taken: { status: 200, text: 'ok' },
    refused: () => ({ status: 400, text: 'invalid_payload' }),
    busy: (after) => ({ status: 429, headers: seconds(after), text: 'rate_limited' }),
  },
  discord: {
    ...{ ...usual, path: '/api/webhooks/4711/secret', charactersMax: 2_000 },
    members: ['content', 'allowed_mentions', 'flags', 'username', 'embeds'],
    read: (body) => {
      const mentions = json(body['allowed_mentions']) === '{"parse":[]}' ? '' : '\n@everyone'
      const read = markdown(memberOf(body, 'content'), /(?!)/g)
      return { ...read, live: read.live + mentions }
    },
    taken: { status: 204 },
    refused: (message) => ({ status: 400, text: json({ message, code: 50_035 }) }),
    busy: (retry_after) => ({
      status: 429,
      text: json({ message: 'You are being rate limited.', retry_after, global: false }),
    }),
  },
  mattermost: {
    ...{ ...usual, path: '/hooks/secret', charactersMax: 16_383 },
    members: ['text', 'channel', 'username', 'attachments'],
    read: (body) => markdown(memberOf(body, 'text'), slackLike),
    taken: { status: 200, text: 'ok' },
    refused: (message) => ({ status: 400, text: json({ message, status_code: 400 }) }),
    busy: (after) => ({ status: 429, headers: seconds(after), text: 'limit exceeded' }),
  },
  googlechat: {
    ...{ ...usual, path: '/v1/spaces/AAAA/messages?key=secret&token=secret' },
    ...{ charactersMax: 32_000, bytesMax: 32_000 },
    members: ['text', 'cardsV2', 'thread'],
    read: (body) => markdown(memberOf(body, 'text'), /<(users\/|https?:)[^>]*>/g),
    taken: { status: 200, text: '{"name":"spaces/AAAA/messages/1"}' },
    refused: (message) => ({ status: 400, text: json({ error: { code: 400, message } }) }),
    busy: () => ({
      status: 429,
      text: json({ error: { code: 429, status: 'RESOURCE_EXHAUSTED' } }),
    }),
  },
  teams: {
    ...{ ...usual, path: '/workflows/secret/triggers/manual/paths/invoke?sig=secret' },
    ...{ charactersMax: 28 * 1024, bytesMax: 28 * 1024 },
    members: ['type', 'attachments'],
    read: cardOf,
    taken: { status: 202 },
    refused: (message) => ({ status: 400, text: json({ error: { code: 'BadRequest', message } }) }),
    busy: (after) => ({ status: 429, headers: seconds(after) }),
  },
  telegram: {
    ...{ ...usual, path: '/bot4711:secret/sendMessage?chat_id=-1004711', gapMs: 3_000 },
    charactersMax: 4_096,
    members: [
      'chat_id',
      'message_thread_id',
      'text',
      'entities',
      'parse_mode',
      'link_preview_options',
    ],
    read: (body) => {
      if (memberOf(body, 'chat_id') !== '-1004711') throw new Error('chat not found')
      const text = memberOf(body, 'text')
      const isPre =
        json(body['entities']) === json([{ type: 'pre', offset: 0, length: text.length }])
      const live = isPre && body['parse_mode'] === undefined ? '' : text
      return { text, live, length: text.length }
    },
    taken: { status: 200, text: '{"ok":true,"result":{"message_id":1}}' },
    refused: (problem) => ({
      status: 400,
      text: json({ ok: false, error_code: 400, description: `Bad Request: ${problem}` }),
    }),
    busy: (retry_after) => ({
      status: 429,
      text: json({ ok: false, error_code: 429, parameters: { retry_after } }),
    }),
  },
} satisfies Readonly<Record<string, Program>>

export const chatPrograms = Object.keys(programs) as readonly ChatProgram[]

/** Mentions, links, and what makes bold, quotes, headings and the like. */
const effects =
  /<[^>\n]*>|@\w+|https?:\S*|[\w-]+\.[a-z]{2,}|\[[^\]\n]*\]\([^)\n]*\)|[*_~|:]\S*[*_~|:]|^[>#-].*/gim

/** All channels, without a network. */
export class ChatEmulator {
  readonly posts: ChatPost[] = []
  /** What it answers next, instead of taking a post. */
  readonly answers: Answer[] = []
  readonly #elapsed: () => number

  /** @param elapsed milliseconds of a clock that never jumps */
  constructor(elapsed: () => number = () => performance.now()) {
    this.#elapsed = elapsed
  }

  /** The path of the channel of a program, with what is secret in it. */
  pathOf(program: ChatProgram): string {
    return `/${program}${programs[program].path}`
  }

  /** How a program says that it gets too much. */
  busy(program: ChatProgram, after: number): Answer {
    const { busy }: Program = programs[program]
    return busy(after)
  }

  /** @param path as `pathOf` has it */
  take(path: string, body: string): Answer {
    // What the query of Telegram's says would count, too, such as its parse_mode.
    const name = chatPrograms.find((it) => this.pathOf(it).replace(/\?chat_id.*/, '') === path)
    const [answer] = this.answers.splice(0, 1)
    if (answer) return answer
    if (name === undefined) return { status: 404 }
    const program: Program = programs[name]
    const at = this.#elapsed()
    const last = this.posts.findLast((it) => it.program === name)?.at ?? -Infinity
    if (at - last < program.gapMs) return program.busy(program.gapMs / 1000)
    try {
      const given = JSON.parse(body) as Json
      const other = Object.keys(given).find((it) => !program.members.includes(it))
      if (other !== undefined) throw new Error(`there is no ${other}`)
      const { text, live, length } = program.read(given)
      const isLong = length > program.charactersMax || Buffer.byteLength(body) > program.bytesMax
      if (isLong) throw new Error('message is too long')
      this.posts.push({ program: name, at, text, effects: live.match(effects) ?? [], body })
      return program.taken
    } catch (error) {
      return program.refused(error instanceof Error ? error.message : String(error))
    }
  }
}

/** Serves the channels below `url`. */
export async function startChatEmulator(elapsed?: () => number) {
  const emulator = new ChatEmulator(elapsed)
  const server = await startLoopbackServer(async (request, response) => {
    const body = await textOfRequest(request)
    if (request.method !== 'POST') return void response.writeHead(404).end()
    const { status, headers, text } = emulator.take(request.url ?? '', body)
    response.writeHead(status, headers).end(text)
  })
  return {
    emulator,
    url: server.url,
    [Symbol.asyncDispose]: () => server.stop(),
  }
}
