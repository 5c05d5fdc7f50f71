import { chmod, open, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { bootService } from '../../harness/boot-service.ts'
import { startLoopbackServer } from '../../emulators/loopback-server.ts'
import { createChallengeWorld } from '../../harness/challenge-world.ts'
import { createGoogleWorld } from '../../harness/google-world.ts'
import { makeSignups } from '../../harness/make-signup.ts'
import { postSignup } from '../../harness/post-signup.ts'
import { runCommand, startCommand } from '../../harness/run-command.ts'
import { runDoctor } from '../../harness/run-doctor.ts'
import { startService } from '../../harness/start-service.ts'
import { tempFolder } from '../../harness/temp-folder.ts'
import { startWebhookReceiver, testCertificate } from '../../harness/webhook-receiver.ts'
import { keepToOwner } from '../../src/platform/node/owner-only.ts'
import { appendTo, openSqliteJournal } from '../../harness/sqlite-journal.ts'
import { noticeFailureFact } from '../../src/journal/contracts/delivery-log.ts'

const secret = `whsec_${Buffer.alloc(32, 'k').toString('base64')}`

test('doctor prints one line for each check of a local workbook, in order', async () => {
  await using data = await tempFolder()
  await using service = await startService({ dataDir: data.path })
  await postSignup(service.url, { email: 'ada@example.com' }, { Prefer: 'wait=20' })
  const { code, stdout, stderr } = await runCommand(['doctor'], { dataDir: data.path })
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  const [lines = '', doors = '', ending] = stdout.split('\n\n')
  expect(lines.split('\n').map((line) => line.slice(0, 20).trim().split(/ +/))).toEqual(
    [
      ...['settings', 'spreadsheet', 'tabs', 'challenge', 'data', 'disk', 'journal', 'process'],
      'backlog',
    ].map((check) => ['ok', check]),
  )
  expect(lines).toMatch(/^ok +backlog +no signup waits for the spreadsheet$/m)
  const [heading, ...open] = doors.split('\n')
  expect(heading).toBe('Before you go public')
  expect(open.map((line) => line.slice(0, 20).trim().split(/ +/))).toEqual(
    ['https', 'proxy', 'hosts', 'bulk', 'new-tabs', 'twice', 'origins'].map((door) => {
      return ['warning', door]
    }),
  )
  expect(doors).toMatch(/^warning https +PUBLIC_URL is not set,/m)
  expect(ending).toBe('No fault found. 7 warnings to think about.\n')
})

test('a name in .env that is no setting is told by doctor and at the start, with the setting that it may mean', async () => {
  await using folder = await tempFolder()
  await writeFile(join(folder.path, '.env'), 'SHEET_TAB=News\n')
  const { code, of } = await runDoctor({ folder: folder.path })
  const [warning, ...others] = of('settings')
  const message = warning?.message ?? ''
  expect({ code, state: warning?.state, others }).toEqual({ code: 0, state: 'warning', others: [] })
  expect(message).toMatch(/^SHEET_TAB .*SHEET_TABS/)
  const env = { HOST: '127.0.0.1', PORT: '0' }
  const service = startCommand(['serve'], { folder: folder.path, env })
  await expect.poll(service.stdout).toContain('Rollcall listens on')
  service.kill('SIGTERM')
  const { stderr } = await service.ended
  const lines = stderr.split('\n').filter((line) => line.includes(JSON.stringify(message)))
  expect(lines).toEqual([expect.stringContaining('"level":40')])
})

test('doctor warns of no door that is closed, and of those of each site apart', async () => {
  await using data = await tempFolder()
  const closed = { tabs: ['News'], duplicates: 'ignore', origins: ['https://launch.example'] }
  const sites = { launch: closed, blog: { ...closed, maxTabs: 0, tabs: undefined }, shop: {} }
  const env = {
    PUBLIC_URL: 'https://signup.example',
    TRUST_PROXY: '1',
    ALLOWED_HOSTS: 'signup.example',
    API_KEYS: 'a-key-of-sixteen',
    ROLLCALL_CONFIG: JSON.stringify({ sites }),
  }
  const { code, of } = await runDoctor({ dataDir: data.path, env })
  const states = (check: string) => of(check).map(({ state }) => state)
  for (const check of ['https', 'proxy', 'hosts', 'bulk']) expect(states(check)).toEqual(['ok'])
  for (const check of ['new-tabs', 'twice', 'origins'])
    expect(states(check)).toEqual(['ok', 'ok', 'warning'])
  expect(of('twice')[2]?.message).toContain('shop: a person who signs up twice gets two rows')
  const bare = { CONFIRMATION: 'mail', MAIL_URL: 'smtp://127.0.0.1:9', MAIL_FROM: 'a@b.example' }
  const asked = await runDoctor({
    dataDir: data.path,
    env: { ...bare, PUBLIC_URL: 'http://a.example' },
  })
  expect(asked.of('https')).toMatchObject([
    { state: 'warning', message: expect.stringContaining('has no https://') },
  ])
  expect(asked.of('hosts')).toMatchObject([{ hint: 'Set ALLOWED_HOSTS to a.example.' }])
  expect(asked.of('bulk')).toMatchObject([{ state: 'ok' }])
  expect(code).toBe(0)
})

test('doctor looks at the instance and then at each site of the file, or at one', async () => {
  await using data = await tempFolder()
  const sites = { launch: { defaultTab: 'Waitlist' }, blog: { origins: ['https://blog.example'] } }
  const of = { dataDir: data.path, env: { ROLLCALL_CONFIG: JSON.stringify({ sites }) } }
  const { code, stdout } = await runCommand(['doctor'], of)
  expect(code).toBe(0)
  const [instance, launch, blog, doors, ending] = stdout.split('\n\n')
  const checks = (lines = '') => lines.split('\n').map((line) => line.slice(8, 20).trim())
  expect(checks(instance)).toEqual(['settings', 'data', 'disk', 'journal', 'process'])
  const ofSite = ['spreadsheet', 'tabs', 'challenge', 'backlog']
  expect([checks(launch).slice(1), checks(blog).slice(1)]).toEqual([ofSite, ofSite])
  expect(launch).toMatch(/^Site launch\n.*DATA_DIR\/sheets\/launch,[^]*"Waitlist"/)
  expect(blog).toMatch(/^Site blog\n/)
  expect(doors).toMatch(/^ok +origins +blog: .*https:\/\/blog\.example/m)
  expect(ending).toMatch(/^No fault found\. \d+ warnings to think about\.\n$/)

  const one = await runCommand(['doctor', '--json', '--site', 'blog'], of)
  const { findings } = JSON.parse(one.stdout) as { findings: { site: string | null }[] }
  expect([...new Set(findings.map(({ site }) => site))]).toEqual([null, 'blog'])
  expect(await runCommand(['doctor', '--site', 'lunch'], of)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('Did you mean launch?'),
  })
})

describe.each(['http', 'https'] as const)('the receiver of notices by %s', (protocol) => {
  async function createWorld() {
    await using made = new AsyncDisposableStack()
    const data = made.use(await tempFolder())
    const receiver = made.use(await startWebhookReceiver(protocol))
    const trusted = join(data.path, 'trusted.pem')
    await writeFile(trusted, testCertificate)
    // What a process trusts is read by one that starts, which takes longer.
    const trust = protocol === 'https' && { NODE_EXTRA_CA_CERTS: trusted }
    const of = { dataDir: data.path, env: { ...receiver.env, ...trust } }
    const { host } = new URL(receiver.env['ALERT_WEBHOOK_URL'] ?? '')
    const kept = made.move()
    return {
      ...{ receiver, of, host },
      notices: async (...args: string[]) => (await runDoctor(of, args)).of('notices'),
      /** A notice was tried so often in vain. */
      fail: async (tries: number, at: number, reason: string) => {
        await using journal = openSqliteJournal(join(data.path, 'journal.db'))
        const failure = JSON.stringify({ at, tries, reason })
        await journal.delivery.noteFact(noticeFailureFact, failure)
      },
      [Symbol.asyncDispose]: () => kept.disposeAsync(),
    }
  }

  test('doctor says whether it answers and has taken the last one, and shows only its host', async () => {
    await using world = await createWorld()
    const { receiver, host } = world
    const [fine] = await world.notices()
    const message = `go to ${host}, which answers; npm run -s rollcall -- doctor --notice sends it a test`
    expect(fine).toMatchObject({ state: 'ok', message })
    await world.fail(7, Date.UTC(2026, 10, 20), 'the receiver answered with 404')
    expect(await world.notices()).toMatchObject([
      {
        state: 'warning',
        message: `go to ${host}, which has not taken the last one in 7 tries: at 2026-11-20T00:00:00.000Z, the receiver answered with 404`,
        hint: expect.stringContaining('npm run -s rollcall -- doctor --notice'),
      },
    ])
    await receiver[Symbol.asyncDispose]()
    const { code, stdout } = await runCommand(['doctor'], world.of)
    expect(code).toBe(1)
    expect(stdout).toMatch(
      new RegExp(`^FAULT +notices +go to ${host}, which does not answer:`, 'm'),
    )
    expect(stdout).not.toMatch(/very-secret|4711|whsec/)
    expect(receiver.received).toEqual([])
  })

  test('doctor --notice sends a signed test notice, once, and says that it was taken', async () => {
    await using world = await createWorld()
    const [taken] = await world.notices('--notice')
    const message = `go to ${world.host}, which has taken a test notice`
    expect(taken).toMatchObject({ state: 'ok', message })
    expect(world.receiver.received).toMatchObject([
      { path: expect.stringContaining('?key='), body: { type: 'notice.test', data: {} } },
    ])
  })
})

test('doctor warns when the first page of the receiver answers that it is out of order', async () => {
  await using data = await tempFolder()
  const proxy = await startLoopbackServer(async (_request, response) => {
    response.writeHead(502).end()
  })
  try {
    const env = { ALERT_WEBHOOK_URL: `${proxy.url}/x`, ALERT_WEBHOOK_SECRET: secret }
    expect((await runDoctor({ dataDir: data.path, env })).of('notices')).toMatchObject([
      { state: 'warning', message: expect.stringContaining('answers with status 502') },
    ])
  } finally {
    await proxy.stop()
  }
})

test('doctor --notice without a receiver says which settings it needs', async () => {
  expect(await runCommand(['doctor', '--notice'])).toMatchObject({
    code: 2,
    stdout: '',
    stderr: '--notice needs the settings ALERT_WEBHOOK_URL and ALERT_WEBHOOK_SECRET.\n',
  })
})

describe('the challenge', () => {
  const diagnose = async (env: Readonly<Record<string, string>>) => {
    await using data = await tempFolder()
    return await runDoctor({ env, dataDir: data.path })
  }

  test.each(['turnstile', 'hcaptcha', 'recaptcha'] as const)(
    'good keys of %s',
    async (provider) => {
      await using challenge = await createChallengeWorld(provider)
      const { code, of } = await diagnose(challenge.env)
      expect({ code, found: of('challenge') }).toMatchObject({ code: 0, found: [{ state: 'ok' }] })
    },
  )

  test('a proof of work needs no keys but those in the journal', async () => {
    const { code, of } = await diagnose({ CHALLENGE_PROVIDER: 'altcha' })
    expect({ code, found: of('challenge') }).toMatchObject({
      code: 0,
      found: [{ state: 'ok', message: 'the proof of work is on, and its keys are in the journal' }],
    })
  })

  test('keys of different providers', async () => {
    await using challenge = await createChallengeWorld('turnstile')
    await using other = await createChallengeWorld('hcaptcha')
    const secret = { CHALLENGE_SECRET_KEY: other.site.secret }
    const { code, of } = await diagnose({ ...challenge.env, ...secret })
    expect(code).toBe(1)
    expect(of('challenge')).toEqual([
      {
        check: 'challenge',
        state: 'fault',
        message:
          'CHALLENGE_SECRET_KEY looks like a key of hCaptcha, and CHALLENGE_PROVIDER is turnstile',
        hint: 'Copy both keys from one site at Turnstile, or set CHALLENGE_PROVIDER to the provider of both.',
      },
    ])
    const keys = { CHALLENGE_SITE_KEY: other.site.siteKey, ...secret }
    const both = await diagnose({ ...challenge.env, ...keys })
    expect(both.of('challenge')[0]?.hint).toBe('Set CHALLENGE_PROVIDER to hcaptcha.')
  })

  test('a secret key that the provider does not know', async () => {
    await using challenge = await createChallengeWorld('recaptcha')
    const secret = `${challenge.site.secret.slice(0, -4)}0000`
    const { code, of } = await diagnose({ ...challenge.env, CHALLENGE_SECRET_KEY: secret })
    expect(code).toBe(1)
    expect(of('challenge')).toMatchObject([
      { state: 'fault', message: expect.stringContaining('invalid-input-secret') },
    ])
  })

  test('a provider that cannot be reached', async () => {
    await using challenge = await createChallengeWorld('turnstile')
    const env = { ...challenge.env, CHALLENGE_VERIFY_URL: 'http://127.0.0.1:9/siteverify' }
    const { faults, of } = await diagnose(env)
    expect(faults).toEqual(['challenge'])
    expect(of('challenge')[0]?.message).toContain('ECONNREFUSED')
  })
})

test.skipIf(process.platform === 'win32')('a DATA_DIR that others can read', async () => {
  await using data = await tempFolder()
  await (await bootService({ dataDir: data.path })).stop()
  await chmod(data.path, 0o755)
  await chmod(join(data.path, 'journal.db'), 0o644)
  const { code, faults, of } = await runDoctor({ dataDir: data.path })
  expect({ code, faults }).toEqual({ code: 1, faults: ['data'] })
  expect(of('data')).toMatchObject([
    {
      message: expect.stringContaining('other users of this machine may read files of'),
      hint: expect.stringContaining(`chmod -R go= ${data.path}`),
    },
  ])
  // Doctor itself leaves it as it is.
  expect((await stat(data.path)).mode & 0o777).toBe(0o755)
})

// Linux says of this file system that nothing is free in it.
test.runIf(process.platform === 'linux')('a DATA_DIR on a disk without room', async () => {
  const { code, of } = await runDoctor({ dataDir: '/proc/rollcall' })
  expect({ code, found: of('disk') }).toMatchObject({
    code: 1,
    found: [{ state: 'fault', message: 'only 0 MB are free in /proc/rollcall' }],
  })
})

test('a DATA_DIR that is a file', async () => {
  await using folder = await tempFolder()
  const dataDir = join(folder.path, 'data')
  await writeFile(dataDir, '')
  const { code, of } = await runDoctor({ dataDir })
  expect(code).toBe(1)
  expect(of('data')[0]?.message).toContain('a file stands where a folder should be')
})

test('a DATA_DIR that cannot be looked into leaves open whether a service runs', async () => {
  await using folder = await tempFolder()
  const dataDir = join(folder.path, 'data')
  await symlink('data', dataDir)
  const { of } = await runDoctor({ dataDir })
  expect(of('process')).toMatchObject([
    { state: 'skipped', message: expect.stringContaining('not checked') },
  ])
})

test('a damaged journal, and then no call to the provider is made', async () => {
  await using google = await createGoogleWorld()
  await using data = await tempFolder()
  await appendTo(data.path, makeSignups(500))
  await keepToOwner(data.path)
  {
    await using file = await open(join(data.path, 'journal.db'), 'r+')
    await file.write(Buffer.alloc(4096, 0xa7), 0, 4096, 10 * 4096)
  }
  const before = await readFile(join(data.path, 'journal.db'))
  const { code, faults, of } = await runDoctor({ env: google.env, dataDir: data.path })
  expect({ code, faults }).toEqual({ code: 1, faults: ['journal'] })
  expect(of('journal')[0]?.message).toMatch(/damaged.* Restore journal\.db/)
  expect(of('api')).toMatchObject([
    { state: 'skipped', message: expect.stringContaining('the journal, which counts the calls') },
  ])
  expect(google.emulator.counters).toMatchObject({ reads: 0, writes: 0 })
  expect((await readFile(join(data.path, 'journal.db'))).equals(before)).toBe(true)
})

test('the default tab is told once, also when it is one of the tabs that are listed', async () => {
  const { code, of } = await runDoctor({ env: { SHEET_TABS: 'News,sheet1' } })
  expect(code).toBe(0)
  expect(of('tabs').map(({ message }) => /"(.*?)"/.exec(message)?.[1])).toEqual(['Sheet1', 'News'])
})
