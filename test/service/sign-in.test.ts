import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ManualClock } from '../../emulators/google-sheets/clock.ts'
import { allDelivered } from '../../harness/delivery-state.ts'
import { postSignup } from '../../harness/post-signup.ts'
import { runDoctor } from '../../harness/run-doctor.ts'
import { createSignInWays, secrets, type SignInWays } from '../../harness/sign-in-ways.ts'
import { startService } from '../../harness/start-service.ts'
import { tempFolder } from '../../harness/temp-folder.ts'
import { minute } from '../../src/platform/clock.ts'

const unusable = 'http://127.0.0.1:9'

/** What neither our settings nor our client know, and what would make Google's library slow or talkative. */
const surroundings = {
  ...{ HTTPS_PROXY: unusable, HTTP_PROXY: unusable, NO_PROXY: '' },
  ...{ GOOGLE_SDK_NODE_LOGGING: '*', DEBUG_AUTH: '1' },
}

/** What a text shows of the secrets of all ways, and of the tokens that were issued. */
function leaks(text: string, { office }: SignInWays): readonly string[] {
  return [...Object.values(secrets), ...office.issued].filter((it) => text.includes(it))
}

test('a signup becomes a row by each way to sign in, whatever is around, and no secret is printed', async () => {
  await using ways = await createSignInWays()
  const { google, office, emulator, files, fileAt, shareWith, robot, person, machine } = ways
  office.allow(google.email, 'grace@example.com')
  const of = async (name: keyof typeof files, email: string) => ({
    spreadsheet: shareWith(email),
    credentialsFile: await fileAt(`${name}.json`, files[name]),
  })
  const sites = {
    delegation: { spreadsheet: shareWith('grace@example.com'), subject: 'grace@example.com' },
    person: await of('user', person),
    impersonated: await of('impersonated', robot),
    'workload-by-file': await of('poolFile', robot),
    'workload-by-url': await of('poolUrl', robot),
    'workload-of-aws': await of('aws', robot),
    machine: { spreadsheet: shareWith(machine), signIn: 'application-default' },
  }
  const env = {
    ...google.env,
    ...ways.env,
    ...surroundings,
    ROLLCALL_CONFIG: JSON.stringify({ sites }),
  }
  await using service = await startService({ env })
  const names = Object.keys(sites)
  const answers = names.map((site) =>
    postSignup(service.url, { email: `${site}@example.com`, site }),
  )
  for (const { status } of await Promise.all(answers)) expect(status).toBe(202)
  await allDelivered(service)
  const addresses = Object.values(sites).map(({ spreadsheet }) => {
    const [, [email] = []] = emulator.spreadsheet(spreadsheet).rows('Sheet1')
    return email
  })
  expect(addresses).toEqual(names.map((site) => `${site}@example.com`))
  await service.stop()
  expect(leaks(service.output(), ways)).toEqual([])
  expect(office.issued.length).toBeGreaterThanOrEqual(names.length)
})

type Settings = (ways: SignInWays) => Promise<Readonly<Record<string, string>>>

const keyless: readonly (readonly [string, Settings])[] = [
  [
    'GOOGLE_APPLICATION_CREDENTIALS',
    async ({ fileAt, files, shareWith, robot }) => ({
      SHEETS_SHEET_ID: shareWith(robot),
      GOOGLE_APPLICATION_CREDENTIALS: await fileAt('pool.json', files.poolFile),
    }),
  ],
  [
    'the file that gcloud has left',
    async ({ folder, fileAt, files, shareWith, person }) => {
      await mkdir(join(folder, '.config/gcloud'), { recursive: true })
      await fileAt('.config/gcloud/application_default_credentials.json', files.user)
      return { SHEETS_SHEET_ID: shareWith(person), SHEETS_SIGN_IN: 'application-default' }
    },
  ],
  [
    'the metadata server',
    async ({ shareWith, machine }) => ({
      SHEETS_SHEET_ID: shareWith(machine),
      SHEETS_SIGN_IN: 'application-default',
    }),
  ],
]

async function diagnose(ways: SignInWays, settings: Settings) {
  await using data = await tempFolder()
  const { SHEETS_API_URL = '', SHEETS_TOKEN_URL = '' } = ways.google.env
  const own = await settings(ways)
  const env = { ...ways.env, SHEETS_API_URL, SHEETS_TOKEN_URL, ...own }
  return await runDoctor({ env, dataDir: data.path })
}

test.concurrent.for(keyless)(
  'doctor finds no fault, and tells who signs in, by %s',
  async ([way, settings], { expect }) => {
    await using ways = await createSignInWays()
    const { code, faults, of, report } = await diagnose(ways, settings)
    expect({ code, faults }).toEqual({ code: 0, faults: [] })
    const isMachine = way === 'the metadata server'
    const who = isMachine ? ways.machine : (report.account ?? 'the account that signs in')
    expect(of('sign-in')).toHaveLength(1)
    expect(of('clock')[0]?.state).toBe('ok')
    expect(of('token')[0]?.message).toBe(`Google gives an access token for spreadsheets to ${who}`)
    expect(leaks(JSON.stringify(report), ways)).toEqual([])
  },
)

test.concurrent.for(keyless)(
  'doctor says that the clock is wrong, by %s',
  async ([, settings], { expect }) => {
    const clock = new ManualClock(Date.now() + 10 * minute)
    await using ways = await createSignInWays({ clock })
    const { faults, of } = await diagnose(ways, settings)
    expect(faults).toEqual(['clock'])
    expect(of('clock')[0]?.message).toContain("is 10 minutes behind Google's")
  },
)

test('doctor says that a machine is none of Google', async () => {
  const env = { SHEETS_SHEET_ID: 'x'.repeat(44), SHEETS_SIGN_IN: 'application-default' }
  await using folder = await tempFolder()
  const nowhere = { GCE_METADATA_HOST: '127.0.0.1:9', HOME: folder.path }
  const { faults, of } = await runDoctor({ env: { ...env, ...nowhere }, dataDir: folder.path })
  expect(faults).toEqual(['token'])
  expect(of('token')[0]).toMatchObject({
    message: 'The metadata server of this machine gives no access token',
    hint: expect.stringMatching(/127\.0\.0\.1:9: .*ECONNREFUSED.* SHEETS_CREDENTIALS_FILE/),
  })
})
