import disposable from 'disposable-email-domains-js'
import { expect, test } from 'vitest'
import { ManualClock } from '../../harness/manual-clock.ts'
import { hour } from '../platform/clock.ts'
import { hmacWith } from '../platform/digest.ts'
import type { Field } from '../signup/field.ts'
import { type Looked, SpamCounts, SpamFilter, withoutTypos } from './spam-filter.ts'
import { Stamps } from '../challenge/stamps.ts'
import type { Signal } from '../signup/suspicion.ts'

const fields: readonly Field[] = [
  { name: 'company', type: 'text', required: false, maxLength: 80 },
  { name: 'about', type: 'textarea', required: false, maxLength: 500 },
  { name: 'website', type: 'url', required: false },
  { name: 'referrer', type: 'text', required: false, maxLength: 500 },
]
const listed = withoutTypos(disposable.disposableEmailBlocklistSet())
const own = new Set(['spam.example'])

function filterOf({ site = 'default', counts = new SpamCounts() } = {}) {
  const clock = new ManualClock()
  const stamps = new Stamps(hmacWith(new Uint8Array(32)), clock)
  const filter = new SpamFilter({
    ...{ site, quarantines: false, domains: [listed, own] },
    ...{ fields, stamps, counts, clock },
  })
  /** A stamp that is so many milliseconds old. */
  const stampOf = (age: number) => {
    clock.jump(-age)
    const stamp = stamps.make()
    clock.jump(age)
    return stamp
  }
  const look = (given: Partial<Looked> = {}, client?: string) =>
    filter.signalsOf({ email: 'ada@gmail.com', name: '', tags: [], fields: {}, ...given }, client)
  return { clock, look, stampOf }
}

/** What happened before a signup: its network has sent many, or its name has come often. */
interface Before {
  readonly busy?: true
  readonly common?: true
  /** The age of its stamp in milliseconds; none without one. */
  readonly age?: number
}

const client = '203.0.113.7'

function verdict(given: Partial<Looked>, { busy, common, age }: Before) {
  const { look, stampOf } = filterOf()
  for (let at = 0; busy && at < 20; at++) look({}, `203.0.113.${at}`)
  for (let at = 0; common && at < 5; at++) look({ name: given.name ?? '' }, `198.51.${at}.1`)
  return look({ ...given, ...(age !== undefined && { stamp: stampOf(age) }) }, client)
}

const fast = 1500
const usual = 20_000
const old = 30 * hour

test.each<[string, Partial<Looked>, Before]>([
  ['an address alone', {}, {}],
  ['an address with our stamp', {}, { age: usual }],
  ['a form without a stamp', { name: 'Ada Lovelace' }, {}],
  ['a page that was open for longer than a day', { name: 'Ada Lovelace' }, { age: old }],
  ['an office, sent at once', { name: 'Ben Okafor' }, { busy: true, age: fast }],
  ['a common name', { name: 'Anna' }, { common: true, age: usual }],
  ['a common name, sent at once', { name: 'John Smith' }, { common: true, age: fast }],
  ['a common name in an office', { name: 'Anna' }, { busy: true, common: true, age: usual }],
  ['a handle', { name: '@ada' }, { busy: true }],
  ['a relay that hides the address', { email: 'x7k2@privaterelay.appleid.com' }, { age: fast }],
  ['the own address as a name', { email: 'ada@corp.com', name: 'Ada@Corp.com' }, { busy: true }],
  ['a throw-away address, and no other sign', { email: 'ada@yopmail.com' }, { age: usual }],
  ['a listed typing error with a link', { email: 'ada@gmial.com', name: 'WWW.SITE.RU' }, {}],
  ['a domain as a name', { name: 'booking.com', fields: { website: 'https://booking.com' } }, {}],
  ['links where they belong', { fields: { about: 'see www.a.ru', website: 'https://a.ru' } }, {}],
  [
    'a link that the page fills in',
    { name: 'booking.com', fields: { referrer: 'https://www.booking.com/x' } },
    { age: usual },
  ],
])('an honest signup is not suspect: %s', (_, given, before) => {
  expect(verdict(given, before)).toBeUndefined()
})

test('three weak signs together make an honest signup suspect', () => {
  const before = { busy: true, common: true, age: fast } as const
  const signals = ['busy-network', 'repeated-name', 'stamp']
  expect(verdict({ name: 'Anna' }, before)).toEqual(signals)
})

const pills = 'Free pharmaceuticals now visit xyz.biz'
const mail = '✉ You have received 1 email № 708165. Open >> https://telegra.ph/Get-BTC-01-22'

test.each<[string, Partial<Looked>, Before, readonly Signal[] | undefined]>([
  ['a filled hidden field', { message: 'x' }, {}, ['hidden-field']],
  ['a mail to a victim', { name: mail }, { age: fast }, ['link-in-name', 'stamp']],
  ['a forged stamp', { name: 'www.site.ru', stamp: 'now' }, {}, ['link-in-name', 'stamp']],
  ['a stamp kept for days', { name: 't.me/joinx' }, { age: old }, ['link-in-name', 'stamp']],
  [
    'an address as a name',
    { name: 'i@spam.example' },
    { busy: true },
    ['link-in-name', 'busy-network'],
  ],
  ['a link in two fields', { name: pills, fields: { company: 'xyz.biz' } }, {}, ['links']],
  [
    'a throw-away address with a link',
    { email: 'a@mailinator.com', name: 'WWW.SITE.RU' },
    {},
    ['disposable-domain', 'link-in-name'],
  ],
  [
    'one name, throw-away',
    { email: 'a@sharklasers.com', name: 'qwe' },
    { common: true },
    ['disposable-domain', 'repeated-name'],
  ],
  [
    'a subdomain of a listed one',
    { email: 'a@x.y.mailinator.com' },
    { busy: true },
    ['disposable-domain', 'busy-network'],
  ],
  [
    'a subdomain of that',
    { email: 'a@mx.spam.example' },
    { age: fast },
    ['disposable-domain', 'stamp'],
  ],
  [
    'a flood of links',
    { name: mail },
    { busy: true, common: true, age: fast },
    ['link-in-name', 'busy-network', 'repeated-name', 'stamp'],
  ],
  [
    'a browser without a screen',
    { message: ' ', email: 'a@yopmail.com' },
    {},
    ['hidden-field', 'disposable-domain'],
  ],
  ['one link, patiently typed', { name: pills }, { age: usual }, undefined],
])('a hostile signup has its signs: %s', (_, given, before, signals) => {
  expect(verdict(given, before)).toEqual(signals)
})

test('the twenty-first signup of a network within an hour is one of a busy network', () => {
  const { look } = filterOf()
  const throwAway = { email: 'a@yopmail.com' }
  for (let at = 0; at < 20; at++) expect(look(throwAway, `203.0.113.${at}`)).toBeUndefined()
  expect(look(throwAway, '203.0.113.200')).toEqual(['disposable-domain', 'busy-network'])
  expect(look(throwAway, '203.0.114.1')).toBeUndefined()
})

test('networks of IPv6 are counted by their first 48 bits', () => {
  const { look } = filterOf()
  const throwAway = { email: 'a@yopmail.com' }
  for (let at = 0; at < 20; at++) look(throwAway, `2001:db8:1:${at.toString(16)}::/64`)
  expect(look(throwAway, '2001:db8:1:ff::/64')).toContain('busy-network')
  expect(look(throwAway, '2001:db8:2:ff::/64')).toBeUndefined()
})

test('the sixth client with one name is told, whatever its letter case; one client with it often is not', () => {
  const { look } = filterOf()
  const email = 'a@yopmail.com'
  for (let at = 0; at < 9; at++) look({ email, name: 'Win' }, '192.0.2.1')
  for (const at of [3, 4, 5, 6])
    expect(look({ email, name: 'win ' }, `192.0.${at}.1`)).toBeUndefined()
  expect(look({ email, name: 'WIN' }, '192.0.7.1')).toEqual(['disposable-domain', 'repeated-name'])
})

test('signups without a name have no name in common', () => {
  const { look } = filterOf()
  const email = 'a@yopmail.com'
  for (let at = 0; at < 9; at++) expect(look({ email }, `192.0.${at}.1`)).toBeUndefined()
})

test('clients whose address is not known are not counted', () => {
  const { look } = filterOf()
  for (let at = 0; at < 30; at++)
    expect(look({ email: 'a@yopmail.com', name: 'Win' })).toBeUndefined()
})

test('the counts of two sites are apart, also when they share their memory', () => {
  const counts = new SpamCounts()
  const [one, other] = [filterOf({ site: 'one', counts }), filterOf({ site: 'other', counts })]
  const throwAway = { email: 'a@yopmail.com', name: 'Win' }
  for (let at = 0; at < 5; at++) one.look(throwAway, `192.0.${at}.1`)
  for (let at = 0; at < 20; at++) one.look(throwAway, client)
  const signals = ['disposable-domain', 'busy-network', 'repeated-name']
  expect(one.look(throwAway, client)).toEqual(signals)
  expect(other.look(throwAway, client)).toBeUndefined()
})
