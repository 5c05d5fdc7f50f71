import { expect, test } from 'vitest'
import { allDelivered } from '../../harness/delivery-state.ts'
import { confirming, decidePending } from '../../harness/pending-world.ts'
import { postSignup } from '../../harness/post-signup.ts'
import { runCommand } from '../../harness/run-command.ts'
import { startService } from '../../harness/start-service.ts'
import { tempFolder } from '../../harness/temp-folder.ts'
import type { Forgotten } from '../../src/operations/forget.ts'
import type { Person } from '../../src/operations/person.ts'

const ada = 'Ada@example.com'
const consent = 'I want the letter.'

interface Place {
  readonly dataDir: string
  readonly env?: Readonly<Record<string, string>>
}

async function person(place: Place): Promise<Person['sites'][number] & Pick<Person, 'wordings'>> {
  const input = 'ada@EXAMPLE.com\n'
  const { code, stdout } = await runCommand(['person', '-', '--json'], { ...place, input })
  expect(code).toBe(0)
  const { sites, wordings } = JSON.parse(stdout) as Person
  const [site] = sites
  if (!site) throw new Error('The journal has a site.')
  return { ...site, wordings }
}

test('person prints what was confirmed, what waits, the mails and the wording, and nothing of others', async () => {
  await using data = await tempFolder()
  const place = { dataDir: data.path, env: confirming }
  await using service = await startService(place)
  const signup = { email: ada, name: 'Ada', metadata: { consent } }
  await postSignup(service.url, { ...signup, tags: ['early'] })
  await decidePending(data.path)
  await postSignup(service.url, { email: 'bob@example.com', name: 'Bob' })
  await allDelivered(service)
  await postSignup(service.url, { ...signup, sheetTab: 'Beta' })
  expect(await person(place)).toMatchObject({
    signups: [
      {
        ...{ state: 'written', name: 'Ada', tags: ['early'], wording: 0, sheetTab: 'Sheet1' },
        confirmedAt: expect.stringMatching(/Z$/) as string,
      },
    ],
    pending: [{ state: 'pending', sheetTab: 'Beta', wording: 0 }],
    // The second one is made when its turn comes.
    mails: expect.arrayContaining([
      expect.objectContaining({ kind: 'confirm', sentAt: null }),
    ]) as unknown[],
    ...{ block: null, wordings: [consent] },
  })
  const { stdout } = await runCommand(['person', ada], place)
  expect(stdout).toMatch(/^Signup\n {2}site: default\n {2}state: written\n/)
  expect(stdout).toMatch(/^ {2}confirmedAt: 2.*Z$/m)
  expect(stdout).toContain(`Wording 0: ${consent}`)
  expect(stdout).toContain('Not looked at: the spreadsheets themselves')
  expect(stdout).not.toContain('Bob')
})

test('a person of whom nothing is kept is told so, and what is no address is refused', async () => {
  await using data = await tempFolder()
  const place = { dataDir: data.path }
  await using service = await startService(place)
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
  await using service = await startService(place)
  await postSignup(service.url, { email: ada, name: 'Ada' })
  await decidePending(data.path, 'decline')
  expect(await person(place)).toMatchObject({
    pending: [{ state: 'declined' }],
    block: { why: 'declined' },
  })
  const forgotten = await runCommand(['forget', ada, '--json'], place)
  const report = JSON.parse(forgotten.stdout) as Forgotten
  expect(report.beside).toEqual({ pending: 1, mails: 1, blocks: 1 })
  expect(await person(place)).toMatchObject({ pending: [], block: { why: 'declined' } })

  const allow = async () => (await runCommand(['mail', 'allow', ada, '--json'], place)).stdout
  expect(JSON.parse(await allow())).toEqual({ allowed: ['default'] })
  expect(JSON.parse(await allow())).toEqual({ allowed: [] })
  expect((await person(place)).block).toBeNull()
})
