import { openRaw, parseAnswers } from '../../harness/raw-http.ts'
import { postSignup } from '../../harness/post-signup.ts'
import type { Attack } from './carry-out.ts'

/** Low enough that the small attack ends well within the minute. */
const perMinute = 100
const replaysMax = 10 * perMinute
const connectionsMax = 50
const forwardedFor = '192.0.2.1'
const body = { email: 'ada@example.com' }

export const replays: Attack = {
  what: 'One client sends the same signup again and again, and bodies when it has nothing left.',
  settings: async () => ({ TRUST_PROXY: '1', RATE_LIMIT_PER_MINUTE: String(perMinute) }),
  run: async ({ url }, size) => {
    const statuses = new Map<number, number>()
    const send = async (key: string) => {
      const headers = { 'x-forwarded-for': forwardedFor, 'idempotency-key': key }
      const { status } = await postSignup(url, body, headers)
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
    }
    await send('one')
    const rounds = Math.ceil((size === 'small' ? 1.2 : 20) * (replaysMax / connectionsMax))
    const sender = async (index: number) => {
      for (let round = 0; round < rounds; round++) await send('one')
      for (let round = 0; round < (2 * perMinute) / connectionsMax; round++) {
        await send(`${index} ${round}`)
      }
    }
    await Promise.all(Array.from({ length: connectionsMax }, (_, index) => sender(index)))
    const taken = statuses.get(202) ?? 0
    if (taken !== replaysMax + perMinute) throw new Error(`${taken} were answered 202`)
    await expectRefusedUnread(url, size === 'small' ? 50 : 500)
  },
}

/** Announces bodies of a megabyte and sends nothing of them. Rejects when one is not refused. */
async function expectRefusedUnread(url: string, count: number): Promise<void> {
  for (let sent = 0; sent < count; sent++) {
    await using connection = openRaw(url)
    connection.write(
      `POST /api/signup HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: ${forwardedFor}\r\n` +
        'Connection: close\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n',
    )
    const [answer] = parseAnswers(await connection.closed)
    if (answer?.status !== 429) throw new Error(`a body was answered ${String(answer?.status)}`)
  }
}
