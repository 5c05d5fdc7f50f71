import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { freePort } from '../../harness/free-port.ts'
import {
  type MailServer,
  type MailServerOptions,
  startMailServer,
} from '../../harness/mail-world.ts'
import { runCommand } from '../../harness/run-command.ts'
import { bootService } from '../../harness/boot-service.ts'
import { tempFolder } from '../../harness/temp-folder.ts'
import { testCertificate } from '../../harness/webhook-receiver.ts'

const login = { user: 'rollcall', password: 'a-secret-password' }

interface Found {
  readonly check: string
  readonly state: string
  readonly message: string
  readonly hint?: string
}

/** What doctor finds about mail, with these settings besides those of the server. */
async function findings(env: Readonly<Record<string, string>>, dataDir: string): Promise<Found[]> {
  const { stdout } = await runCommand(['doctor', '--json'], {
    dataDir,
    env: { CONFIRMATION: 'mail', ...env },
  })
  expect(stdout).not.toContain(login.password)
  const { findings } = JSON.parse(stdout) as { findings: Found[] }
  return findings.filter(({ check }) => ['mail', 'links'].includes(check))
}

async function mailFinding(server: MailServer, env: Readonly<Record<string, string>> = {}) {
  await using data = await tempFolder()
  const [mail] = await findings(
    { ...server.env, PUBLIC_URL: 'http://127.0.0.1:9', ...env },
    data.path,
  )
  return mail
}

test('doctor says that the mail server takes mail of the sender, and sends none', async () => {
  await using server = await startMailServer({ tls: 'implicit', login })
  await using data = await tempFolder()
  const ca = join(data.path, 'ca.pem')
  await writeFile(ca, testCertificate)
  expect(await mailFinding(server, { NODE_EXTRA_CA_CERTS: ca })).toMatchObject({
    state: 'ok',
    message: `goes to 127.0.0.1:${server.port} by TLS, which takes mail from hello@rollcall.example`,
  })
  expect(await server.mails()).toEqual([])
  const stages = (await server.log()).map(({ stage }) => stage)
  expect(stages).toEqual(['connect', 'ehlo', 'auth', 'mail'])
})

test.each<[string, MailServerOptions, (server: MailServer) => Promise<Record<string, string>>]>([
  ['The mail server is not found', {}, async () => ({ MAIL_URL: 'smtps://nowhere.invalid' })],
  // Not a name of this machine, and leads to it all the same.
  [
    'The mail server offers no TLS',
    {},
    async ({ port }) => ({ MAIL_URL: `smtp://0.0.0.0:${port}` }),
  ],
  [
    'The certificate of the mail server is not trusted',
    { tls: 'implicit', certificate: 'wrong' },
    async () => ({}),
  ],
  [
    'The mail server refuses the login',
    { login },
    async (server) => {
      await server.set({ refusesLogin: true })
      return {}
    },
  ],
  [
    'The mail server takes no mail just now',
    { login },
    async (server) => {
      await server.fault({ stage: 'mail', code: 451 })
      return {}
    },
  ],
])('doctor names what is wrong, and what to do: %s', async (reason, options, set) => {
  await using server = await startMailServer(options)
  const found = await mailFinding(server, await set(server))
  expect(found?.message).toContain(reason)
  expect(found).toMatchObject({ state: 'fault', hint: expect.stringMatching(/\w+.*\.$/) })
  expect(await server.mails()).toEqual([])
})

test(
  'doctor tells a PUBLIC_URL that leads here from one that leads to another service or nowhere',
  { tags: 'slow' },
  async () => {
    await using server = await startMailServer()
    await using data = await tempFolder()
    await using ours = await bootService({ dataDir: data.path })
    await using another = await bootService()
    const links = async (url: string) => {
      const found = await findings({ ...server.env, PUBLIC_URL: url }, data.path)
      return found.find(({ check }) => check === 'links')
    }
    expect(await links(ours.url)).toMatchObject({ state: 'ok' })
    const isAnother = await links(another.url)
    expect(isAnother).toMatchObject({ state: 'fault', hint: expect.stringContaining('PUBLIC_URL') })
    expect(isAnother?.message).toContain('another service answers')
    const nowhere = await links(`http://127.0.0.1:${await freePort()}`)
    expect(nowhere?.message).toContain('does not answer')
  },
)
