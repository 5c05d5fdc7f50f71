import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import ts from 'typescript'
import { afterAll, beforeAll, expect, expectTypeOf, test } from 'vitest'

import {
  type BulkItem,
  createClient,
  RollcallError,
  type SignupFields,
  type SignupResult,
} from '../../src/client/client.ts'
import { type BootedService, bootService } from '../../harness/boot-service.ts'
import { type Fault, startFaultyProxy } from '../../harness/faulty-proxy.ts'
import { readTab } from '../../harness/read-workbook.ts'
import { projectRoot } from '../../harness/source-file.ts'

const ada = { email: 'ada@example.com' }
let service: BootedService

beforeAll(async () => {
  service = await bootService({ env: { API_KEYS: 'a-long-right-key' } })
})

afterAll(() => service[Symbol.asyncDispose]())

function clientAt(baseUrl: string, options: { timeoutMs?: number; retries?: number } = {}) {
  return createClient({ baseUrl, apiKey: 'a-long-right-key', ...options })
}

function rowsIn(tab: string) {
  return readTab(join(service.folder, 'data'), `${tab}.csv`).slice(1)
}

async function failureOf(call: Promise<unknown>): Promise<RollcallError> {
  const error: unknown = await call.catch((thrown: unknown) => thrown)
  if (error instanceof RollcallError) return error
  throw new Error('the call did not fail with RollcallError', { cause: error })
}

const faults: readonly (readonly [string, Fault, boolean])[] = [
  ['a lost answer', 'drop answer', true],
  ['half an answer', 'cut answer', true],
  ['the page of a proxy instead of the answer', 'page instead', true],
  ['no answer in time', 'hang', true],
  ['a request that did not arrive', 'drop request', false],
  ['429', { status: 429, headers: { 'retry-after': '0' } }, false],
  ['502', { status: 502 }, false],
  ['503', { status: 503, headers: { 'retry-after': '1' } }, false],
  ['504', { status: 504 }, false],
]

test.each(faults)(
  'after %s the client sends the signup again with the same key, and it is one row',
  async (what, fault, isReplay) => {
    await using proxy = await startFaultyProxy(service.url, [fault])
    const tab = `After ${what}`.slice(0, 20).trim()
    const client = clientAt(proxy.url, fault === 'hang' ? { timeoutMs: 1_500 } : {})
    // A request that hangs would last as long as the wait.
    const wait = fault === 'hang' ? 1 : 20
    const signup = await client.signup({ ...ada, sheetTab: tab }, { wait })
    expect(signup.isReplay).toBe(isReplay)
    const keys = proxy.requests.map((headers) => headers['idempotency-key'])
    expect(keys.length).toBeGreaterThan(1)
    expect(new Set(keys).size).toBe(1)
    await expect.poll(async () => (await client.status(signup.id)).status).toBe('written')
    expect(rowsIn(tab)).toHaveLength(1)
  },
)

test.each([400, 401, 403, 404, 408, 413, 422, 500])(
  'a signup that is answered %i is not sent again',
  async (status) => {
    await using proxy = await startFaultyProxy(service.url, [{ status }])
    const error = await failureOf(clientAt(proxy.url).signup(ada))
    expect(error).toMatchObject({ status, errors: [] })
    expect(proxy.requests).toHaveLength(1)
  },
)

test('the client gives up after its retries, and its error has the key for a later try', async () => {
  await using proxy = await startFaultyProxy(service.url, Array<Fault>(3).fill('drop answer'))
  const client = clientAt(proxy.url, { retries: 2 })
  const signup = { ...ada, sheetTab: 'Given up' }
  const error = await failureOf(client.signup(signup))
  expect(proxy.requests).toHaveLength(3)
  expect(error.status).toBeUndefined()
  expect(error.cause).toBeInstanceOf(Error)
  const { idempotencyKey } = error
  const again = await client.signup(signup, { wait: 20, ...(idempotencyKey && { idempotencyKey }) })
  expect(again.isReplay).toBe(true)
  await expect.poll(async () => (await client.status(again.id)).status).toBe('written')
  expect(rowsIn('Given up')).toHaveLength(1)
})

const unknown: Fault = {
  status: 503,
  headers: { 'retry-after': '0' },
  json: { outcome: 'unknown', requestId: 'a' },
}
const refusedNow: Fault = { status: 503, headers: { 'retry-after': '0' }, json: { requestId: 'a' } }

test.each<[string, readonly Fault[], boolean]>([
  ['the service did not know', [unknown], true],
  ['the service did not know at an earlier try', [unknown, refusedNow], true],
  ['an earlier answer was lost', ['drop answer', refusedNow], true],
  ['a proxy answered', [{ status: 504 }], true],
  ['nothing was stored', [refusedNow, refusedNow], false],
])('an error says whether the signup may have been stored: %s', async (_, faults, mayBeStored) => {
  await using proxy = await startFaultyProxy(service.url, [...faults])
  const client = clientAt(proxy.url, { retries: faults.length - 1 })
  const error = await failureOf(client.signup(ada))
  expect(error.mayBeStored).toBe(mayBeStored)
  expect(error.idempotencyKey).toBeDefined()
  expect(proxy.requests).toHaveLength(faults.length)
})

test('two equal signups have two keys and are two rows', async () => {
  const client = clientAt(service.url)
  const signup = { ...ada, sheetTab: 'Twice' }
  await client.signup(signup, { wait: 20 })
  const second = await client.signup(signup, { wait: 20 })
  expect(second).toMatchObject({ status: 'written', sheetTab: 'Twice', isReplay: false })
  expect(rowsIn('Twice')).toHaveLength(2)
})

test('a refused signup is an error that names every wrong field and the request', async () => {
  const error = await failureOf(
    clientAt(service.url).signup({ email: 'ada', name: 'a'.repeat(201) }),
  )
  expect(error.status).toBe(422)
  expect(error.errors.map(({ field }) => field)).toEqual(['email', 'name'])
  expect(error.detail).toContain('2 fields')
  expect(error.requestId).toMatch(/^[0-9a-f-]{36}$/)
  expect(error.message).toContain(`${service.url}/api/signup: 422`)
})

test('bulk resolves with the result of each signup, and rejects when none was accepted', async () => {
  const client = clientAt(service.url)
  const bulk = await client.bulk([ada, { email: 'nobody' }], { wait: 20 })
  expect(bulk).toMatchObject({
    accepted: 1,
    rejected: 1,
    results: [
      { status: 'written' },
      { index: 1, status: 'rejected', errors: [{ field: 'email' }] },
    ],
    isReplay: false,
  })
  const error = await failureOf(client.bulk([{ email: 'nobody' }]))
  expect(error).toMatchObject({ status: 422, errors: [{ index: 0, field: 'email' }] })
})

test('bulk with a wrong API key is an error of status 401', async () => {
  const client = createClient({ baseUrl: service.url, apiKey: 'wrong-key' })
  const error = await failureOf(client.bulk([ada]))
  expect(error.status).toBe(401)
  expect(JSON.stringify(error) + error.message).not.toContain('wrong-key')
})

test('the client sends its API key with signups, and with nothing else', async () => {
  await using proxy = await startFaultyProxy(service.url, [])
  const client = clientAt(`${proxy.url}/`)
  const { id } = await client.signup(ada)
  await client.bulk([ada])
  await client.status(id)
  const given = proxy.requests.map(({ authorization }) => authorization)
  expect(given).toEqual(['Bearer a-long-right-key', 'Bearer a-long-right-key', undefined])
})

test('an id that no signup has is an error of status 404', async () => {
  const error = await failureOf(clientAt(service.url).status('nothing'))
  expect(error.status).toBe(404)
})

test('a signal ends a call, even between two tries', async () => {
  const later = { status: 503, headers: { 'retry-after': '60' } }
  await using proxy = await startFaultyProxy(service.url, [later])
  const abort = new AbortController()
  const reason = new Error('the caller had enough')
  const call = clientAt(proxy.url).signup(ada, { signal: abort.signal })
  const ended = expect(call).rejects.toBe(reason)
  await expect.poll(() => proxy.requests.length).toBe(1)
  abort.abort(reason)
  await ended
  expect(proxy.requests).toHaveLength(1)
})

test('the types describe what may be sent, and what an answer has', () => {
  expectTypeOf<{
    email: string
    tags: string[]
    metadata: { a: number[] }
  }>().toExtend<SignupFields>()
  expectTypeOf<{ email: string; metadata: { a: Date } }>().not.toExtend<SignupFields>()
  expectTypeOf<{ name: string }>().not.toExtend<SignupFields>()
  expectTypeOf<BulkItem>().not.toHaveProperty('challengeToken')
  type Written = Extract<SignupResult, { status: 'written' }>
  expectTypeOf<Written>().not.toHaveProperty('delivery')
})

const page = readFileSync(join(projectRoot, 'docs/api.md'), 'utf8')
const snippet = /^```ts\n([\s\S]*?)^```$/m.exec(page)?.[1] ?? ''

test('the snippet in docs/api.md fits the types of the client', { tags: 'slow' }, () => {
  expect(typeProblems(snippet)).toEqual([])
  expect(typeProblems(snippet.replace('email:', 'mail:')).join()).toContain("write 'email'")
})

test(
  'the snippet in docs/api.md runs, and imports the client by the name of the package',
  { tags: 'slow' },
  async () => {
    await using open = await bootService()
    const code = snippet.replaceAll('http://localhost:3000', open.url)
    const args = ['--input-type=module-typescript', '--eval', code]
    const run = await promisify(execFile)(process.execPath, args, { cwd: projectRoot })
    expect(run.stdout.trim().split('\n')).toEqual(['written', 'accepted, rejected', '422 email'])
  },
)

test('a client that is told the fields of its site takes just these', () => {
  interface Fields {
    readonly company: string
    readonly plan?: 'free' | 'pro'
  }
  type Launch = ReturnType<typeof createClient<Fields>>
  type Signup = Parameters<Launch['signup']>[0]
  expectTypeOf<{ email: string; company: string }>().toExtend<Signup>()
  expectTypeOf<{ email: string; company: string; plan: 'pro'; tags: ['a'] }>().toExtend<Signup>()
  expectTypeOf<{ email: string }>().not.toExtend<Signup>()
  expectTypeOf<{ email: string; company: string; plan: 'gold' }>().not.toExtend<Signup>()
  expectTypeOf<Signup>().not.toHaveProperty('compny')
  type Item = Parameters<Launch['bulk']>[0][number]
  expectTypeOf<{ email: string; company: string }>().toExtend<Item>()
  expectTypeOf<{ email: string }>().not.toExtend<Item>()
})

test('a client sends everything to its site', async () => {
  const sites = { launch: { defaultTab: 'Waitlist' }, blog: {} }
  await using named = await bootService({ env: { ROLLCALL_CONFIG: JSON.stringify({ sites }) } })
  const client = createClient({ baseUrl: named.url, site: 'launch' })
  const { id, sheetTab } = await client.signup(ada, { wait: 20 })
  expect(sheetTab).toBe('Waitlist')
  expect(await client.status(id)).toMatchObject({ status: 'written', sheetTab: 'Waitlist' })
  expect(await client.bulk([ada])).toMatchObject({ accepted: 1 })
  const other = createClient({ baseUrl: named.url, site: 'lunch' })
  expect(await failureOf(other.signup(ada))).toMatchObject({
    status: 422,
    errors: [{ field: 'site' }],
  })
})

test('a client learns who waits when all seats are taken, and that signups are closed', async () => {
  const waiting = { closing: { after: 1, overflowTab: 'Waiting' } }
  const sites = { waiting, seats: { closing: { after: 1 } } }
  await using own = await bootService({ env: { ROLLCALL_CONFIG: JSON.stringify({ sites }) } })
  const [one, other] = ['waiting', 'seats'].map((site) => createClient({ baseUrl: own.url, site }))
  const two = [ada, { email: 'grace@example.com' }]
  const { results } = (await one?.bulk(two)) ?? {}
  expect(results).toMatchObject([{ index: 0 }, { index: 1, overflow: true }])
  expect(results?.[0]).not.toHaveProperty('overflow')
  expect(await one?.signup(ada)).toMatchObject({ overflow: true, sheetTab: 'Waiting' })
  expect(await other?.bulk(two)).toMatchObject({ accepted: 1, rejected: 1 })
  const late = await failureOf(other?.signup(ada) ?? expect.fail())
  expect([late.status, late.isClosed]).toEqual([410, true])
  const wrong = await failureOf(one?.signup({ email: 'ada' }) ?? expect.fail())
  expect(wrong.isClosed).toBe(false)
})

/** The errors of the TypeScript compiler for a module in the project's folder. */
function typeProblems(code: string): readonly string[] {
  const name = join(projectRoot, 'snippet.ts')
  const { config } = ts.readConfigFile(join(projectRoot, 'tsconfig.json'), ts.sys.readFile)
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, projectRoot)
  const host = ts.createCompilerHost(options)
  const { getSourceFile, fileExists } = host
  host.fileExists = (path) => path === name || fileExists(path)
  host.getSourceFile = (path, version) =>
    path === name ? ts.createSourceFile(name, code, version) : getSourceFile(path, version)
  const found = ts.getPreEmitDiagnostics(ts.createProgram([name], options, host))
  return found.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))
}
