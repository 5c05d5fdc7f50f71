import { expect, test } from 'vitest'

import { ChatEmulator, chatPrograms, type ChatProgram } from '../../../emulators/chat.ts'
import { ManualClock } from '../../../harness/manual-clock.ts'
import { makeSignup } from '../../../harness/make-signup.ts'
import type { WebhookMessage } from '../../journal/contracts/webhook-log.ts'
import type { OutgoingRequest } from '../../platform/http-client.ts'
import { minute } from '../../platform/clock.ts'
import type { Signup, SignupId } from '../../signup/signup.ts'
import { chatTeller } from './teller.ts'

const { signal } = new AbortController()

/** A channel of a program, and what tells it of signups. */
function createWorld(chat: ChatProgram, title = 'Launch', more = '') {
  const clock = new ManualClock()
  const emulator = new ChatEmulator(() => clock.elapsed())
  const host = 'chat.example.com'
  const url = `https://${host}${emulator.pathOf(chat)}${more}`
  const http = async ({ url, body = '' }: OutgoingRequest) => {
    const {
      status,
      headers,
      text = '',
    } = emulator.take(url.slice(`https://${host}`.length), String(body))
    return { status, headers: new Headers(headers), text }
  }
  const own = [{ name: 'company', heading: 'Your company, or the one that sent you here' }]
  const endpoint = { ...{ chat, url, host, title, own, sharers: 1 }, key: 'key' }
  const teller = chatTeller(endpoint, { http, clock })
  const tell = async (...signups: readonly Signup[]) => {
    await clock.run(minute)
    const [first, ...others] = signups.map((signup, at): WebhookMessage => ({
      position: at + 1,
      type: 'signup.accepted',
      signup,
    }))
    const received = await teller.tell([first ?? expect.fail(), ...others], signal)
    return { received, post: emulator.posts.at(-1) ?? expect.fail(JSON.stringify(received)) }
  }
  return { emulator, teller, tell }
}

/** Signups whose ids end with their numbers. */
function people(count: number, fields: Partial<Signup> = {}): readonly Signup[] {
  return Array.from({ length: count }, (_, at) => {
    const id = `0199d4c0-8a6e-7b1f-9c3d-${String(at + 1).padStart(12, '0')}` as SignupId
    return makeSignup({ email: `person${at + 1}@example.com`, ...fields, id })
  })
}

/** Without the zero-width spaces that keep words from being links. */
const words = (text: string) => text.replaceAll('\u200b', '')

test.each(chatPrograms)(
  '%s shows who has signed up, and ends with the end of each id',
  async (it) => {
    const { tell } = createWorld(it, 'R&D <Launch>')
    const fields = {
      company: 'Analytical Engines',
      topics: ['maths', 'weaving'],
      vip: true,
      news: false,
    }
    const [ada, bob] = people(2)
    const { post } = await tell(
      { ...(ada ?? expect.fail()), name: 'Ada Lovelace', sheetTab: 'Newsletter', fields },
      bob ?? expect.fail(),
    )
    expect(words(post.text)).toBe(
      `R&D <Launch>: 2 new signups
person1@example.com, Ada Lovelace, Newsletter, Your company, or the one that sent you …: Analytical Engines, topics: maths, weaving, vip: yes, news: no
person2@example.com, Sheet1
00000001 00000002`,
    )
    expect(post.text).toContain('person1@example.com')
    expect(post.effects).toEqual([])
  },
)

const hostile = [
  ...['<!channel> <!here|here> <!everyone>', '@everyone @here @channel @all', '<@U123> <@&4711>'],
  ...['<#C123|general> #general', '<users/all> <users/123>', '/me :smile: <:name:4711>'],
  ...['https://evil.example', 'www.evil.example evil.example', 'mailto:evil@evil.example'],
  ...['[win](https://evil.example)', '<https://evil.example|win>', 'tg://user?id=4711'],
  ...['*bold* _it_ ~no~ **b** ||spoiler|| > quote', '# heading\n- list\n1. one', '``` code ```'],
  ...['` *bold* `', '`', '``', '\\` *bold*', '&lt;!channel&gt;', '${x} {{x}} </at> <at>all</at>'],
  ...[
    'a\u202eb\u2066c\u200fd',
    'line\r\nbreak\u2028and\u2029more\0',
    '\ud800 half',
    '😀'.repeat(300),
  ],
]

test.each(chatPrograms)(
  'nothing that a visitor types mentions, links or formats in %s',
  async (it) => {
    const { tell } = createWorld(it)
    for (const name of hostile) {
      for (const typed of [{ name }, { sheetTab: name }, { fields: { company: name } }]) {
        const { post } = await tell(...people(1, typed))
        expect(post.effects, name).toEqual([])
        expect(post.text.split('\n'), name).toHaveLength(3)
        expect(post.text, name).not.toMatch(/[\u202e\u2066\u200f]|\p{Cs}/u)
        const shown = post.text.replace('person1@example.com', '')
        expect(shown, name).not.toMatch(/<[!@#u]|@[a-z]|https?:\/|evil\.e/)
      }
    }
  },
)

test('no parameter in the URL formats a message in Telegram, and a topic stays', async () => {
  const { tell } = createWorld('telegram', '', '&parse_mode=HTML&message_thread_id=3&text=x')
  const { post } = await tell(...people(1, { name: '<b>bold</b>' }))
  expect(post.effects).toEqual([])
  expect(JSON.parse(post.body)).toMatchObject({ chat_id: '-1004711', message_thread_id: '3' })
})

test.each(chatPrograms)('no address that is valid has an effect in %s', async (program) => {
  const { tell } = createWorld(program)
  for (const local of [
    '`*a*`',
    '*a*_b_~c~',
    '&lt;a&gt;',
    '{|a|}',
    '#a',
    '/a',
    '=a',
    '!a',
    '```a',
  ]) {
    const { post } = await tell(
      ...people(1).map((it) => ({ ...it, email: `${local}@example.com` })),
    )
    expect(post.effects, local).toEqual([])
    expect(post.text.replaceAll('ˋ', '`'), local).toContain(`\n${local}@example.com, Sheet1\n`)
  }
})

test.each(chatPrograms)('%s would let a visitor do that without it', (program) => {
  const path = new ChatEmulator().pathOf(program)
  const card = { type: 'TextBlock', text: '[win](https://evil.example)' }
  const content = { type: 'AdaptiveCard', version: '1.2', body: [card] }
  const contentType = 'application/vnd.microsoft.card.adaptive'
  const text = '<!channel> @everyone'
  const bodies: Partial<Record<ChatProgram, object>> = {
    discord: { content: text },
    teams: { type: 'message', attachments: [{ contentType, content }] },
    telegram: { chat_id: '-1004711', text },
  }
  const emulator = new ChatEmulator()
  emulator.take(path, JSON.stringify(bodies[program] ?? { text }))
  expect(emulator.posts[0]?.effects).not.toEqual([])
})

test.each(chatPrograms)(
  '%s names twenty people, or as many as fit, and counts the rest',
  async (it) => {
    const { tell } = createWorld(it)
    const short = await tell(...people(500))
    expect(short.post.text.match(/^person\d+/gm)).toHaveLength(20)
    expect(short.post.text).toContain('\nand 480 more\n00000001 00000002 ')
    for (const name of ['x'.repeat(400), '&'.repeat(400), '.:'.repeat(200), '漢'.repeat(400)]) {
      const { post } = await tell(...people(500, { name }))
      const named = post.text.match(/^person\d+/gm)?.length ?? 0
      expect(named).toBeGreaterThan(1)
      expect(post.text).toContain(`and ${500 - named} more`)
      expect(post.text.split('\n').at(-1)?.split(' ')).toHaveLength(named)
      for (const line of post.text.split('\n').slice(0, -1))
        expect(line.length).toBeLessThanOrEqual(300)
    }
  },
)

test.each([
  ...(['slack', 'discord', 'mattermost', 'teams', 'telegram'] as const).map(
    (it) => [it, 8_000] as const,
  ),
  ['googlechat', 0] as const,
])('%s says in its own way how long it is to be left alone', async (it, retryAfterMs) => {
  const { emulator, teller } = createWorld(it)
  emulator.answers.push(emulator.busy(it, 8))
  const received = await teller.test(signal)
  expect(received).toMatchObject({ kind: 'later', isOverloaded: true, retryAfterMs })
  expect(await teller.test(signal)).toEqual({ kind: 'sent' })
  expect(emulator.posts[0]?.text).toBe(
    'Launch: a test of Rollcall, which tells this channel who signs up',
  )
})

test('a channel that is gone, or an answer that is no JSON, has no wish', async () => {
  const { emulator, teller } = createWorld('telegram')
  emulator.answers.push({ status: 429, text: '<html>' }, { status: 410, text: 'null' })
  expect(await teller.test(signal)).toMatchObject({ kind: 'later', retryAfterMs: 0 })
  expect(await teller.test(signal)).toMatchObject({ kind: 'gone' })
})
