import { expect, test } from 'vitest'

import { allDelivered, readiness } from '../../harness/delivery-state.ts'
import { createGoogleWorld } from '../../harness/google-world.ts'
import { postBulk, postSignup } from '../../harness/post-signup.ts'
import { bootService } from '../../harness/boot-service.ts'

const env = { SPAM_FILTER: 'quarantine', RATE_LIMIT_PER_MINUTE: '0' }

/** What a client sees of an answer, without what differs in each. */
async function seen(answer: Response) {
  const passing = ['x-request-id', 'date', 'content-length']
  const headers = [...answer.headers].filter(([name]) => !passing.includes(name))
  const text = (await answer.text())
    .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<id>')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>')
  return { status: answer.status, headers, text }
}

/** Two names, of which the filter suspects the second together with the address. */
const names = { honest: 'Ada', suspect: 'Ada www.spam.example' }
type Kind = keyof typeof names

let people = 0
const addressOf = () => `person-${(people += 1)}@mailinator.com`

/** What a bot may try, as often as it likes, with a signup that is held and with one that is not. */
const tries: readonly (readonly [string, (url: string, kind: Kind) => Promise<Response>])[] = [
  ['a signup', (url, kind) => postSignup(url, { email: addressOf(), name: names[kind] })],
  [
    'a new tab, which both name in other letters before',
    async (url, kind) => {
      const sheetTab = `Tab of ${kind}`.replace(kind, kind === 'honest' ? 'one' : 'two')
      await postSignup(url, { email: addressOf(), name: names[kind], sheetTab })
      const again = { email: addressOf(), name: names[kind], sheetTab: sheetTab.toUpperCase() }
      const answer = await postSignup(url, again)
      return new Response((await answer.text()).replace(/one|two/, 'n'), answer)
    },
  ],
  [
    'a tab too many',
    (url, kind) =>
      postSignup(url, { email: addressOf(), name: names[kind], sheetTab: `Late ${kind}` }),
  ],
  [
    'a wait for the row',
    (url, kind) => {
      const signup = { email: addressOf(), name: names[kind] }
      return postSignup(url, signup, { prefer: 'wait=20' })
    },
  ],
  [
    'a repeated request',
    async (url, kind) => {
      const signup = { email: `again-${kind}@mailinator.com`, name: names[kind] }
      const key = { 'idempotency-key': kind }
      await postSignup(url, signup, { ...key, prefer: 'wait=20' })
      return postSignup(url, signup, key)
    },
  ],
  [
    'the status, once the row is there',
    async (url, kind) => {
      const signup = { email: addressOf(), name: names[kind] }
      const answer = await postSignup(url, signup, { prefer: 'wait=20' })
      const { id } = (await answer.json()) as { id: string }
      return fetch(`${url}/api/signup/${id}`)
    },
  ],
  [
    'many in one request',
    (url, kind) => {
      const signup = () => ({ email: addressOf(), name: names[kind] })
      return postBulk(url, { signups: [signup(), { email: 'wrong' }, signup()] })
    },
  ],
  [
    'an address that is there',
    async (url, kind) => {
      const signup = { email: `twice-${kind}@mailinator.com`, name: names[kind] }
      await postSignup(url, signup)
      return postSignup(url, signup)
    },
  ],
]

test('no answer, status or readiness tells a signup that is held from one that is not', async () => {
  await using google = await createGoogleWorld()
  const settings = { ...env, DUPLICATES: 'ignore', MAX_SHEET_TABS: '2', DEFAULT_SHEET_TAB: 'List' }
  await using service = await bootService({ env: { ...google.env, ...settings } })
  for (const [what, ask] of tries) {
    const honest = await seen(await ask(service.url, 'honest'))
    await allDelivered(service)
    const ready = await readiness(service)
    const suspect = await seen(await ask(service.url, 'suspect'))
    await allDelivered(service)
    expect(suspect, what).toEqual(honest)
    expect(await readiness(service), what).toEqual(ready)
  }
  expect(google.emulator.spreadsheet(google.spreadsheetId).titles()).toEqual([
    ...['Sheet1', 'List', 'Tab of one'],
  ])
  for (const tab of ['List', 'Tab of one']) {
    const rows = ((await google.rows(tab)) ?? []).slice(1)
    expect(new Set(rows.map((row) => row[3]))).toEqual(new Set([names.honest]))
  }
})
