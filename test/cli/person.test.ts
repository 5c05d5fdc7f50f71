import { statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { adminToken, signIn } from '../../harness/admin.ts'
import { allDelivered } from '../../harness/delivery-state.ts'
import { confirming, decidePending } from '../../harness/pending-world.ts'
import { makeSignup } from '../../harness/make-signup.ts'
import { postSignup } from '../../harness/post-signup.ts'
import { runCommand } from '../../harness/run-command.ts'
import { bootService } from '../../harness/boot-service.ts'
import { appendTo, openSqliteJournal } from '../../harness/sqlite-journal.ts'
import { tempFolder } from '../../harness/temp-folder.ts'
import type { Forgotten } from '../../src/operations/forget.ts'
import type { Kept } from '../../src/operations/person.ts'

const ada = 'Ada@example.com'
const consent = 'I want the letter.'

interface Place {
  readonly dataDir: string
  readonly env?: Readonly<Record<string, string>>
}

async function person(place: Place) {
  const input = 'ada@EXAMPLE.com\n'
  const { code, stdout } = await runCommand(['person', '-', '--json'], { ...place, input })
  expect(code).toBe(0)
  const { kept } = JSON.parse(stdout) as { readonly kept: readonly Kept[] }
  return (kind: Kept['kind']) => kept.filter((one) => one.kind === kind)
}

test('person prints what was confirmed, what waits, the mails and the wording, and nothing of others', async () => {
  await using data = await tempFolder()
  const place = { dataDir: data.path, env: { ...confirming, PAGE_CONSENT: consent } }
  await using service = await bootService(place)
  const signup = { email: ada, name: 'Ada', metadata: { consent } }
  await postSignup(service.url, { ...signup, tags: ['early'] })
  await decidePending(data.path)
  await postSignup(service.url, { email: 'bob@example.com', name: 'Bob' })
  await allDelivered(service)
  await postSignup(service.url, { ...signup, sheetTab: 'Beta' })
  const all = await person(place)
  expect(all('signup')).toMatchObject([
    {
      ...{ state: 'written', name: 'Ada', tags: ['early'], wording: 1, sheetTab: 'Sheet1' },
      confirmedAt: expect.stringMatching(/Z$/) as string,
    },
  ])
  expect(all('pending')).toMatchObject([{ sheetTab: 'Beta', wording: 1 }])
  // The second one is made when its turn comes.
  expect(all('mail')).toContainEqual(expect.objectContaining({ mail: 'confirm', sentAt: null }))
  expect([all('noMail'), all('wording')]).toMatchObject([[], [{ wording: 1, text: consent }]])
  const { stdout } = await runCommand(['person', ada], place)
  expect(stdout).toMatch(/^Signup\n {2}site: default\n {2}state: written\n/m)
  expect(stdout).toMatch(/^ {2}confirmedAt: 2.*Z$/m)
  expect(stdout).toContain(`Text that was agreed to\n  wording: 1\n  text: ${consent}\n`)
  // The mail server does not answer.
  expect(stdout).toMatch(/^Pending$[^]*^ {2}until: 7 days after its mail was sent$/m)
  expect(stdout).toContain('Not looked at: the spreadsheets themselves')
  expect(stdout).not.toContain('Bob')
})

test('all that is pending of a person is printed and counted, also where a stranger asked for very much', async () => {
  await using data = await tempFolder()
  const place = { dataDir: data.path }
  const asked = 1_250
  {
    const policy = { confirmation: { waitMs: 60_000 } }
    await using journal = openSqliteJournal(join(data.path, 'journal.db'), policy)
    const signups = Array.from({ length: asked }, (_, at) =>
      makeSignup({ email: ada, name: `${at}` }),
    )
    await journal.intake.ask(signups, { addressing: { share: '', language: 'en' } })
  }
  const names = (await person(place))('pending').map(({ name }) => name)
  expect(names).toEqual(Array.from({ length: asked }, (_, at) => `${at}`))
  const { stdout } = await runCommand(['forget', ada, '--json'], place)
  expect((JSON.parse(stdout) as Forgotten).beside.pending).toBe(asked)
})

test('a person of whom nothing is kept is told so, and what is no address is refused', async () => {
  await using data = await tempFolder()
  const place = { dataDir: data.path }
  await using service = await bootService(place)
  await postSignup(service.url, { email: 'bob@example.com' })
  const none = await runCommand(['person', ada], place)
  expect([none.code, none.stdout]).toEqual([
    0,
    expect.stringContaining('Nothing is kept about this address.'),
  ])
  const wrong = await runCommand(['person', 'ada'], place)
  expect([wrong.code, wrong.stdout]).toEqual([2, ''])
})

test('a person who said that it was not them is blocked until mail allow, and forget keeps that', async () => {
  await using data = await tempFolder()
  const place = { dataDir: data.path, env: confirming }
  await using service = await bootService(place)
  await postSignup(service.url, { email: ada, name: 'Ada' })
  await decidePending(data.path, 'decline')
  const before = await person(place)
  expect([before('pending'), before('noMail')]).toMatchObject([[], [{ why: 'declined' }]])
  const forgotten = await runCommand(['forget', ada, '--json'], place)
  const report = JSON.parse(forgotten.stdout) as Forgotten
  expect(report.beside).toEqual({ pending: 0, mails: 1, blocks: 1 })
  const after = await person(place)
  expect([after('pending'), after('noMail')]).toMatchObject([[], [{ why: 'declined' }]])

  const allow = async () => (await runCommand(['mail', 'allow', ada, '--json'], place)).stdout
  expect(JSON.parse(await allow())).toEqual({ allowed: ['default'] })
  expect(JSON.parse(await allow())).toEqual({ allowed: [] })
  expect((await person(place))('noMail')).toEqual([])
})

/** More than a stranger can send in a day, and than a small heap holds. */
const many = 8_000

test(
  'a person who was signed up 8,000 times with 9 KB each is told and exported as a whole, and shown in part, with a heap of 128 MB',
  { tags: 'slow' },
  async () => {
    await using data = await tempFolder()
    const signups = Array.from({ length: many }, (_, at) =>
      makeSignup({ email: ada, metadata: JSON.stringify({ text: `${at} ${'x'.repeat(9_000)}` }) }),
    )
    await appendTo(data.path, signups)
    const env = { NODE_OPTIONS: '--max-old-space-size=128', ADMIN_TOKEN: adminToken }
    const place = { dataDir: data.path, env }
    const one = await person(place)
    expect(one('signup')).toHaveLength(many)
    const { stdout } = await runCommand(['person', ada], place)
    expect(stdout.match(/^Signup$/gm)).toHaveLength(many)
    const exported = join(data.path, 'all.csv')
    expect((await runCommand(['export', '--out', exported], place)).code).toBe(0)
    expect(statSync(exported).size).toBeGreaterThan(many * 9_000)

    await using service = await bootService(place)
    const { get, post } = await signIn(service.url)
    const page = await (await post('/person', { email: ada })).text()
    expect(page.match(/<h2>Signup</g)).toHaveLength(100)
    expect(page).toContain('7,900 more are kept')
    expect(page.length).toBeLessThan(500_000)
    for (const path of ['', '/signups', '/sending']) {
      expect((await (await get(path)).text()).length, path).toBeLessThan(200_000)
    }
  },
)
