// @module-tag slow
import { writeFile, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { crowdIn, makeCrowd } from '../../harness/crowd.ts'
import { freezeNext } from '../../harness/freeze-next.ts'
import { runCommand } from '../../harness/run-command.ts'
import { openSqliteJournal } from '../../harness/sqlite-journal.ts'
import { tempFolder } from '../../harness/temp-folder.ts'
import type { Journal } from '../../src/journal/contracts/journal.ts'

/** SQLite has an index of addresses then. */
const policy = { duplicates: 'ignore' } as const

type Crowd = ReturnType<typeof makeCrowd>

/** A folder with a `DATA_DIR`, removed at the end. */
async function dataFolder() {
  const folder = await tempFolder()
  const dataDir = join(folder.path, 'data')
  await mkdir(dataDir, { mode: 0o700 })
  const file = join(dataDir, 'journal.db')
  return {
    ...{ dataDir, file, backup: join(folder.path, 'backup.db'), path: folder.path },
    open: () => openSqliteJournal(file, policy),
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  }
}

const emailsOf = (crowd: Crowd) => crowd.map(({ email }) => email)

async function append({ intake }: Journal, crowd: Crowd): Promise<void> {
  for (let at = 0; at < crowd.length; at += 100) await intake.append(crowd.slice(at, at + 100))
}

/** Forgets these people, one in eight at a time, and then says that their rows are gone. */
async function forget({ erasure }: Journal, crowd: Crowd): Promise<void> {
  for (let part = 0; part < 8; part++) {
    for (const { email } of crowd.filter((_, at) => at % 8 === part)) await erasure.forget(email)
    for (let next: number | undefined = 0; next !== undefined;) {
      next = (await erasure.eraseNext(next)).next
    }
  }
  await finish(erasure)
}

/** Says that the rows of all forgotten people are gone. */
async function finish(erasure: Journal['erasure']): Promise<void> {
  for (let page = await erasure.removals(0); page.length > 0; page = await erasure.removals(0)) {
    for (const { position } of page) await erasure.removed([position])
  }
  expect(await erasure.scrub()).toBe(true)
}

/** Which of these people have their address in a file of the folder. */
async function left(dataDir: string, crowd: Crowd): Promise<readonly string[]> {
  const found = await crowdIn(dataDir)
  return emailsOf(crowd).filter((email) => found.has(email))
}

const noon = Date.UTC(2026, 10, 20, 12)

test('while duplicates are ignored, thousands of signups that expire leave no byte', async () => {
  await using data = await dataFolder()
  const crowd = makeCrowd(3000)
  await using journal = data.open()
  await append(journal, crowd)
  for (let day = 0; day < 15; day++) {
    const batch = await freezeNext(journal.delivery, { rowsMax: 200 })
    await journal.delivery.settle(batch?.number ?? 0, noon + day)
  }
  for (let day = 1; day <= 15; day++) {
    while (await journal.retention.expire(noon + day));
  }
  expect(await journal.erasure.scrub()).toBe(true)
  expect(await left(data.dataDir, crowd)).toEqual([])
})

test('who is forgotten after a restore leaves no byte', async () => {
  await using old = await dataFolder()
  await using data = await dataFolder()
  const [early, late] = [makeCrowd(300, 'early'), makeCrowd(1500, 'late')]
  {
    await using journal = old.open()
    await append(journal, late)
    await append(journal, early)
    await forget(journal, early)
  }
  expect(await runCommand(['backup', old.backup], old)).toMatchObject({ code: 0 })
  expect(await runCommand(['restore', old.backup], data)).toMatchObject({ code: 0 })
  expect(await left(data.dataDir, early)).toEqual([])
  expect(await left(data.dataDir, late)).toHaveLength(1500)
  await using journal = openSqliteJournal(data.file)
  await forget(journal, late)
  expect(await left(data.dataDir, late)).toEqual([])
})

test('who was forgotten after the backup leaves no byte when it takes the place of the journal', async () => {
  await using data = await dataFolder()
  const [gone, staying] = [makeCrowd(1500, 'gone'), makeCrowd(500, 'staying')]
  {
    await using journal = data.open()
    await append(journal, gone)
    await append(journal, staying)
  }
  expect(await runCommand(['backup', data.backup], data)).toMatchObject({ code: 0 })
  {
    await using journal = data.open()
    await forget(journal, gone)
  }
  const env = { DUPLICATES: 'ignore' }
  const restored = await runCommand(['restore', data.backup, '--replace', '--json'], {
    ...{ dataDir: data.dataDir, env },
  })
  expect(JSON.parse(restored.stdout)).toMatchObject({ signups: 2000, forgotten: 1500 })
  {
    await using journal = data.open()
    await finish(journal.erasure)
  }
  expect(await left(data.dataDir, gone)).toEqual([])
  expect(await left(data.dataDir, staying)).toHaveLength(500)
})

test('an import keeps nothing in DATA_DIR of the lines that it rejects', async () => {
  await using data = await dataFolder()
  const [good, bad] = [makeCrowd(20, 'good'), makeCrowd(20, 'bad')]
  const list = join(data.path, 'list.csv')
  const lines = [...emailsOf(good), ...emailsOf(bad).map((email) => `${email} or so`)]
  await writeFile(list, ['Email', ...lines].join('\n'))
  const { stdout } = await runCommand(['import', list, '--json'], data)
  expect(JSON.parse(stdout)).toMatchObject({ added: 20, rejected: 20 })
  expect(await left(data.dataDir, bad)).toEqual([])
  expect(await left(data.dataDir, good)).toHaveLength(20)
})
