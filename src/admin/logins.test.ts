import { join } from 'node:path'
import { expect, test } from 'vitest'

import { ManualClock } from '../../harness/manual-clock.ts'
import { tempFolder } from '../../harness/temp-folder.ts'
import { Exchange } from '../http/exchange.ts'
import { SiteLimits } from '../http/rate-limit.ts'
import { Sites } from '../http/sites.ts'
import { openSqliteSites } from '../journal/sqlite/sqlite-journal.ts'
import { sha256 } from '../platform/digest.ts'
import { environmentNames } from '../platform/setting-names.ts'
import { Logins } from './logins.ts'
import { hour, minute, second } from '../platform/clock.ts'

const token = 'correct-horse-battery-staple'

const site = { name: 'default', signupsPerMinute: 0, settingNames: environmentNames }
const sites = new Sites([{ ...site, origins: '*' }], false, { ...site, origins: '*' })
const limits = new SiteLimits({ sites, clock: new ManualClock(), warn: () => {} })

/** A request with headers from an address. */
function request(headers: Readonly<Record<string, string>> = {}, from = '192.0.2.1'): Exchange {
  const request = new Request('http://127.0.0.1/admin', { headers })
  const arrival = { requestId: '', request, params: {}, connection: { remoteAddress: from } }
  return new Exchange(arrival, { allowedHosts: undefined, trustedProxies: 0, sites, limits })
}

async function openWorld() {
  const folder = await tempFolder()
  const opened = openSqliteSites(join(folder.path, 'journal.db'), new Map([['default', {}]]))
  const clock = new ManualClock()
  const { admin: log } = opened
  const loginsWith = (token: string) => new Logins({ log, token, clock, now: () => clock.now() })
  const logins = loginsWith(token)
  return {
    ...{ clock, log, logins, loginsWith },
    signIn: async () => {
      const set = (await logins.signIn(request(), token)) ?? expect.fail('refused')
      return request({ cookie: set.slice(0, set.indexOf(';')) })
    },
    [Symbol.asyncDispose]: async () => {
      await opened[Symbol.asyncDispose]()
      await folder[Symbol.asyncDispose]()
    },
  }
}

test('a login that is used each hour ends after twelve', async () => {
  await using world = await openWorld()
  const { clock, logins } = world
  const visit = await world.signIn()
  for (let passed = 0; passed < 12 * hour; passed += 50 * minute) {
    expect(await logins.find(visit)).toBeDefined()
    await clock.run(50 * minute)
  }
  expect(await logins.find(visit)).toBeUndefined()
})

test('a cookie that somebody has planted before the real one signs nobody out', async () => {
  await using world = await openWorld()
  const { logins } = world
  const own = (await world.signIn()).request.headers.get('cookie')
  const planted = (times: number) =>
    request({ cookie: `${'rollcall_admin=x; '.repeat(times)}${own}` })
  expect(await logins.find(planted(2))).toBeDefined()
  expect(await logins.find(planted(3))).toBeUndefined()
  await logins.signOut(planted(1))
  expect(await logins.find(planted(0))).toBeUndefined()
})

test('a login that nobody uses ends after an hour, and holds until then', async () => {
  await using world = await openWorld()
  const { clock, logins } = world
  const visit = await world.signIn()
  await clock.run(hour - second)
  expect(await logins.find(visit)).toBeDefined()
  await clock.run(hour - second)
  expect(await logins.find(visit)).toBeDefined()
  await clock.run(hour)
  expect(await logins.find(visit)).toBeUndefined()
})

test('what a page asks for by itself keeps no login alive', async () => {
  await using world = await openWorld()
  const { clock, logins } = world
  const visit = await world.signIn()
  const { headers } = visit.request
  const alone = request({ cookie: headers.get('cookie') ?? '', 'x-rollcall-live': '1' })
  for (let passed = 0; passed < 59 * minute; passed += minute) {
    await clock.run(minute)
    expect(await logins.find(alone)).toBeDefined()
  }
  await clock.run(minute)
  expect(await logins.find(alone)).toBeUndefined()
})

test('a login of another token does not hold', async () => {
  await using world = await openWorld()
  const visit = await world.signIn()
  expect(await world.loginsWith('another-long-token').find(visit)).toBeUndefined()
  expect(await world.loginsWith(token).find(visit)).toBeDefined()
})

test('the journal keeps neither the secret of a cookie nor the token', async () => {
  await using world = await openWorld()
  const visit = await world.signIn()
  const secret = visit.request.headers.get('cookie')?.split('=')[1] ?? ''
  const login = (await world.log.login(sha256(secret))) ?? expect.fail('no login')
  expect(JSON.stringify(login)).not.toContain(secret)
  expect(login.token).toBe(sha256(token))
  const found = (await world.logins.find(visit)) ?? expect.fail('no login')
  expect(secret).not.toContain(found.id)
  expect([found.csrf, found.id]).not.toContain(secret)
})

test('each address has five tries a minute, also with the right token', async () => {
  await using world = await openWorld()
  const { clock, logins } = world
  const trying = (client: string, with_ = 'wrong') => logins.signIn(request({}, client), with_)
  for (let tries = 0; tries < 5; tries++) expect(await trying('192.0.2.1')).toBeUndefined()
  await expect(trying('192.0.2.1', token)).rejects.toMatchObject({ status: 429 })
  expect(await trying('192.0.2.2', token)).toBeDefined()
  await clock.run(minute)
  expect(await trying('192.0.2.1', token)).toBeDefined()
})

test('beyond twenty tries a minute in all, each waits a second and is answered', async () => {
  await using world = await openWorld()
  const { clock, logins } = world
  const trying = (at: number, with_ = 'wrong') => logins.signIn(request({}, `192.0.2.${at}`), with_)
  for (let at = 0; at < 20; at++) await trying(at)
  let cookie: string | undefined
  const late = trying(20, token).then((it) => (cookie = it))
  await clock.run(second - 1)
  expect(cookie).toBeUndefined()
  await clock.run(1)
  await late
  expect(cookie).toContain('rollcall_admin=')
})

test('a login that is over leaves the journal with the next sign-in', async () => {
  await using world = await openWorld()
  const digestOf = ({ request: { headers } }: Exchange) =>
    sha256(headers.get('cookie')?.split('=')[1] ?? '')
  const known = digestOf(await world.signIn())
  expect(await world.log.login(known)).toBeDefined()
  await world.clock.run(13 * hour)
  await world.signIn()
  expect(await world.log.login(known)).toBeUndefined()
})

test('every sign-in makes a login of its own, whatever cookie came with it', async () => {
  await using world = await openWorld()
  const { logins } = world
  const cookie = 'rollcall_admin=chosen-by-somebody-else'
  const set = (await logins.signIn(request({ cookie }), token)) ?? ''
  expect(set).not.toContain('chosen')
  expect(await logins.find(request({ cookie }))).toBeUndefined()
  const again = (await logins.signIn(request({ cookie: set.split(';')[0] ?? '' }), token)) ?? ''
  expect(again.split(';')[0]).not.toBe(set.split(';')[0])
})
