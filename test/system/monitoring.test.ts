import { execFile, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { cp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import ts from 'typescript'
import { describe, expect, test } from 'vitest'
import { createChallengeWorld } from '../../harness/challenge-world.ts'
import { limitFileSize } from '../../harness/file-size-limit.ts'
import { createGoogleWorld } from '../../harness/google-world.ts'
import { startPostgresProxy } from '../../harness/postgres-proxy.ts'
import { startPostgres } from '../../harness/postgres-server.ts'
import { postSignup } from '../../harness/post-signup.ts'
import { metricsText, metricsToken, valuesIn, withMetrics } from '../../harness/read-metrics.ts'
import { projectRoot } from '../../harness/source-file.ts'
import { startService } from '../../harness/start-service.ts'
import { tempFolder } from '../../harness/temp-folder.ts'
import { firedIn, signUp, type WatchedLife } from './world/watched-life.ts'

const run = promisify(execFile)
const folder = join(projectRoot, 'examples/monitoring')
const dashboardText = readFileSync(join(folder, 'grafana-dashboard.json'), 'utf8')

const wrongSecret = {
  status: 200,
  headers: { 'content-type': 'application/json' },
  body: '{"success":false,"error-codes":["invalid-input-secret"]}',
}
/** One signup in a minute, so that a quota lasts. */
const seldom: WatchedLife['visit'] = async (url, at, world) => {
  if (at % 4 === 0) await signUp(url, at, world)
}
const twoTabs: WatchedLife['visit'] = (url, at) =>
  postSignup(url, { email: 'ada@example.com', sheetTab: at % 2 === 0 ? 'News' : 'Events' })
const wrongOnes: WatchedLife['visit'] = (url) =>
  Promise.all(Array.from({ length: 4 }, () => postSignup(url, { email: 'ada' })))

/** Sends signups, one after the row of the other, until fewer than 1,000 calls are left. */
const useQuota: WatchedLife['fault'] = async ({ service: { url } }) => {
  const left = /^rollcall_quota_remaining{.*window="day".*} (\d+)/m
  for (let at = 0; Number(left.exec(await metricsText(url))?.[1]) >= 1000; at++) {
    await postSignup(url, { email: `person${at}@example.com` }, { prefer: 'wait=20' })
  }
}

const lives: readonly (readonly [string, readonly string[], WatchedLife])[] = [
  [
    'a killed process',
    ['RollcallDown'],
    { fault: ({ service }) => process.kill(service.pid, 'SIGKILL'), minutes: 4 },
  ],
  [
    'an outage of Google',
    ['RollcallDeliveryStalled'],
    {
      fault: ({ google }) => google.emulator.faults.add({ times: 0, answer: 'unavailable' }),
      minutes: 9,
    },
  ],
  [
    'a tab that somebody has protected',
    ['RollcallDeliveryRefused', 'RollcallSignupsWaitLong'],
    {
      visit: twoTabs,
      fault: ({ google }) => google.emulator.spreadsheet(google.spreadsheetId).protectTab('News'),
      minutes: 18,
    },
  ],
  [
    'a full disk',
    ['RollcallJournalUnavailable'],
    { visit: seldom, fault: ({ service }) => limitFileSize(service.pid, 4096), minutes: 4 },
  ],
  [
    'a quota that is nearly used up',
    ['RollcallQuotaNearlyUsed'],
    {
      env: { SHEETS_REQUESTS_PER_DAY: '1020' },
      visit: async () => {},
      fault: useQuota,
      minutes: 3,
    },
  ],
  [
    'a challenge provider that is down',
    ['RollcallChallengeUnavailable'],
    {
      hasChallenge: true,
      fault: ({ challenge }) => challenge.emulator.faults.add({ times: 0, answer: 'serverError' }),
      minutes: 4,
    },
  ],
  [
    'a secret key of the challenge that is wrong',
    ['RollcallChallengeMisconfigured'],
    {
      hasChallenge: true,
      fault: ({ challenge }) => challenge.emulator.faults.add({ times: 0, answer: wrongSecret }),
      minutes: 3,
    },
  ],
  [
    'a form that sends wrong addresses',
    ['RollcallManyRefusals'],
    { fault: () => {}, visitInFault: wrongOnes, minutes: 6 },
  ],
]

describe('the alerts that fire are exactly those of the fault', { concurrent: true }, () => {
  test.each(lives)('%s', async (_, alerts, life) => {
    expect(await firedIn(life)).toEqual({ before: [], after: alerts })
  })

  test('a database that is gone while nobody signs up', async () => {
    await using server = await startPostgres()
    await using database = await server.createDatabase()
    const url = new URL(database.url)
    await using proxy = await startPostgresProxy(Number(url.port))
    url.port = String(proxy.port)
    const env = { DATABASE_URL: url.href }
    const fault = () => {
      proxy.target = 1
      proxy.cut()
    }
    const fired = await firedIn({ env, fault, visit: async () => {}, minutes: 4 })
    expect(fired).toEqual({ before: [], after: ['RollcallJournalUnavailable'] })
  })
})

test('promtool takes the rules and the configuration, and only our library gives it reasons to complain', async () => {
  await using copy = await tempFolder()
  await cp(folder, copy.path, { recursive: true })
  await writeFile(join(copy.path, 'token'), metricsToken)
  await run('promtool', ['check', 'config', join(copy.path, 'prometheus.yml')])
  const { stderr } = spawnSync('promtool', ['check', 'metrics'], { input: await realMetrics() })
  const complaints = String(stderr).trim().split('\n')
  expect(complaints.filter((line) => !/^(nodejs|process)_/.test(line))).toEqual([])
})

test('every expression of the dashboard is valid, and names metrics that a service has', async () => {
  const dashboard = JSON.parse(dashboardText) as { panels: { targets: { expr: string }[] }[] }
  const expressions = dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr))
  const names = new Set([...valuesIn(await realMetrics()).keys()].map((it) => it.split('{')[0]))
  const named = new Set(expressions.join(' ').match(/\b(rollcall|process|nodejs)_\w+/g))
  expect([...named].filter((name) => !names.has(name))).toEqual([])

  await using rules = await tempFolder()
  const file = join(rules.path, 'rules.yml')
  const written = expressions.map((expr, at) => ({
    record: `expression_${at}`,
    expr: expr.replaceAll('$job', 'rollcall').replaceAll('$__rate_interval', '1m'),
  }))
  await writeFile(file, JSON.stringify({ groups: [{ name: 'dashboard', rules: written }] }))
  const { stdout } = await run('promtool', ['check', 'rules', file])
  expect(stdout).toContain(`${expressions.length} rules found`)
})

test("the dashboard has the form of Grafana's own types", () => {
  const typed = `
    import type { WrittenDashboard } from './world/dashboard-form.ts'
    export const dashboard: WrittenDashboard = `
  expect(mistakesIn(typed + dashboardText)).toEqual([])
  const misspelt = dashboardText.replace('"panels"', '"pannels"')
  expect(mistakesIn(typed + misspelt)).toHaveLength(1)
})

/** What the compiler says to this file. */
function mistakesIn(text: string): string[] {
  const file = join(projectRoot, 'test/system/dashboard-of-test.ts')
  const options = {
    noEmit: true,
    allowImportingTsExtensions: true,
    strict: true,
    skipLibCheck: true,
    module: ts.ModuleKind.NodeNext,
    target: ts.ScriptTarget.ESNext,
    types: [],
  }
  const host = ts.createCompilerHost(options)
  const read = host.getSourceFile.bind(host)
  host.fileExists = (path) => path === file || ts.sys.fileExists(path)
  host.getSourceFile = (path, version, ...rest) =>
    path === file ? ts.createSourceFile(path, text, version) : read(path, version, ...rest)
  const program = ts.createProgram([file], options, host)
  const found = ts.getPreEmitDiagnostics(program)
  return found.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))
}

/** The metrics of a service with a Google Sheet and a challenge, after a signup. */
async function realMetrics(): Promise<string> {
  await using google = await createGoogleWorld()
  await using challenge = await createChallengeWorld()
  const env = { ...google.env, ...challenge.env, ...withMetrics }
  await using service = await startService({ env })
  await postSignup(
    service.url,
    { email: 'ada@example.com', challengeToken: challenge.token() },
    { prefer: 'wait=10' },
  )
  return await metricsText(service.url)
}
