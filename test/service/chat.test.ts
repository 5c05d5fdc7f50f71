import { expect, test } from 'vitest'

import { startChatEmulator } from '../../emulators/chat.ts'
import { bootService } from '../../harness/boot-service.ts'
import { postSignup } from '../../harness/post-signup.ts'
import { runCommand } from '../../harness/run-command.ts'
import { tempFolder } from '../../harness/temp-folder.ts'

/** A channel that takes a post at any time, and the settings of a service that tells it. */
async function startChannel() {
  let at = 0
  const channel = await startChatEmulator(() => (at += 60_000))
  const path = channel.emulator.pathOf('mattermost')
  const env = { CHAT_URL: channel.url + path, CHAT_KIND: 'mattermost', PAGE_TITLE: 'Launch' }
  return Object.assign(channel, { env, host: new URL(channel.url).host })
}

async function signUp(url: string, email: string): Promise<string> {
  const answer = await postSignup(url, { email, name: '@channel', sheetTab: 'News' })
  expect(answer.status).toBe(202)
  return ((await answer.json()) as { readonly id: string }).id
}

/** What the commands that end the name of a webhook say. */
async function told(env: Readonly<Record<string, string>>, ...args: readonly string[]) {
  const { stdout } = await runCommand([...args, '--json'], { env })
  return JSON.parse(stdout) as unknown
}

test('a channel is told of a signup, and the commands about webhooks know it', async () => {
  await using channel = await startChannel()
  const { posts } = channel.emulator
  await using folder = await tempFolder()
  await using service = await bootService({ env: channel.env, dataDir: folder.path })
  const id = await signUp(service.url, 'ada@example.com')
  await expect.poll(() => posts).toHaveLength(1)
  expect(posts[0]?.text).toBe(
    `Launch: 1 new signup\nada@example.com, @\u200bchannel, News\n${id.slice(-8)}`,
  )
  expect(posts[0]?.effects).toEqual([])
  const env = { ...channel.env, DATA_DIR: folder.path }
  const { host } = channel
  await expect
    .poll(() => told(env, 'webhooks'))
    .toMatchObject({
      webhooks: [{ webhook: 1, host, state: 'ok', waiting: 0 }],
    })
  expect(await told(env, 'webhooks', 'test')).toMatchObject({ webhooks: [{ host, isWell: true }] })
  expect(posts[1]?.text).toContain('a test of Rollcall')
  expect(await told(env, 'person', 'ada@example.com')).toMatchObject({
    kept: [{ webhooks: [{ webhook: 1, host }] }],
  })
  expect(await told(env, 'person', id.slice(-8).toUpperCase())).toMatchObject({
    address: 'ada@example.com',
  })
  const other = id.endsWith('0') ? '1' : '0'
  const none = await runCommand(['person', id.slice(-8, -1) + other], { env })
  expect(none).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('no signup whose id ends so'),
  })
  expect(service.output()).not.toMatch(/hooks\/secret|ada@/)
})
