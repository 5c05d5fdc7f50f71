import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { bootService } from '../../harness/boot-service.ts'
import { createGoogleWorld } from '../../harness/google-world.ts'
import { makeSignups } from '../../harness/make-signup.ts'
import { startPostgres } from '../../harness/postgres-server.ts'
import { runCommand } from '../../harness/run-command.ts'
import { appendTo } from '../../harness/sqlite-journal.ts'
import { failedStart } from '../../harness/start-service.ts'
import { tempFolder } from '../../harness/temp-folder.ts'

const says = (elsewhere: string) =>
  new RegExp(
    'made by a version of Rollcall before 0\\.3\\.0, .* Export its signups with that version, give another ' +
      `${elsewhere} and a new spreadsheet, and bring them there with "npm run -s rollcall -- import" of this one\\.`,
  )

test.each([6, 7])(
  'a start on a file of before the first release, version %s, says the way out and changes nothing',
  async (version) => {
    await using folder = await tempFolder()
    const dataDir = join(folder.path, 'data')
    await mkdir(dataDir, { mode: 0o700 })
    const file = join(dataDir, 'journal.db')
    {
      using database = new DatabaseSync(file)
      database.exec(`PRAGMA user_version = ${version}; PRAGMA journal_mode = WAL;
        CREATE TABLE note (text TEXT); INSERT INTO note VALUES ('kept')`)
    }
    const before = await readFile(file)
    const env = { HOST: '127.0.0.1', PORT: '0' }
    const { code, stderr } = await runCommand(['serve'], { dataDir, env })
    expect(code).toBe(1)
    expect(stderr).toMatch(says('DATA_DIR'))
    expect(await readFile(file)).toEqual(before)
    expect(await readdir(dataDir)).not.toContain('journal.secret')
  },
)

test('a start on a journal that was moved to PostgreSQL says where it went, and never serves', async () => {
  await using data = await tempFolder()
  await appendTo(data.path, makeSignups(1))
  await writeFile(join(data.path, 'journal.moved'), 'signups on db.example\n')
  const started = bootService({ dataDir: data.path })
  await expect(started).rejects.toThrow(
    /moved to PostgreSQL \(signups on db\.example\): set DATABASE_URL/,
  )
})

test.each([2, 7])(
  'a start on a database of before the first release, version %s, says the way out and changes nothing',
  { tags: 'slow' },
  async (version) => {
    await using server = await startPostgres()
    await using database = await server.createDatabase()
    await database.query(`SET ROLE rollcall; CREATE SCHEMA rollcall;
      CREATE TABLE rollcall.version (only_row boolean PRIMARY KEY, number integer NOT NULL);
      INSERT INTO rollcall.version VALUES (true, ${version}); RESET ROLE`)
    await using world = await createGoogleWorld()
    const env = { ...world.env, DATABASE_URL: database.url }
    const { code, message } = await failedStart({ env })
    expect(message).toMatch(says('DATABASE_URL'))
    expect(code).toBe(1)
    expect(
      await database.query(`SELECT number, (SELECT array_agg(tablename::text) FROM pg_tables
        WHERE schemaname = 'rollcall') AS tables FROM rollcall.version`),
    ).toEqual([{ number: version, tables: ['version'] }])
  },
)
