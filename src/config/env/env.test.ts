import { chmod, mkdtemp, mkdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { messageOf } from '../../platform/message-of.ts'
import { type Config, loadConfig } from '../config.ts'
import { readEnvironment } from './env.ts'

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rollcall-env-'))
})
afterEach(() => rm(folder, { recursive: true }))

/** What a process in the folder makes of its settings. */
function startWith(environment: Record<string, string> = {}): {
  readonly config?: Config
  readonly message?: string
} {
  try {
    return loadConfig(readEnvironment({ ROLLCALL_FOLDER: folder, ...environment }))
  } catch (error) {
    return { message: messageOf(error) }
  }
}

const writeEnvFile = (content: string | Buffer) => writeFile(join(folder, '.env'), content)

test('without an .env file only the environment counts, and paths begin in its folder', () => {
  const { config } = startWith({ PORT: '4000' })
  expect(config).toMatchObject({ port: 4000, dataDir: join(folder, 'data') })
})

test('an .env file adds variables, and those of the environment win, even empty ones', async () => {
  await writeEnvFile('# ours\nPORT=4000\nexport DEFAULT_SHEET_TAB="Waiting list" # a comment\n')
  expect(startWith().config).toMatchObject({
    port: 4000,
    sites: [{ defaultTab: 'Waiting list' }],
  })
  expect(startWith({ PORT: '5000' }).config?.port).toBe(5000)
  expect(startWith({ PORT: '' }).config?.port).toBe(3000)
})

test.skipIf(process.platform === 'win32')(
  'an .env with secrets that every user may read has a warning, which names only those settings',
  async () => {
    await writeEnvFile('PORT=4000\nAPI_KEYS=0123456789abcdef\nMETRICS_TOKEN=\n')
    await chmod(join(folder, '.env'), 0o644)
    expect(startWith().config?.warnings).toEqual([
      'Every user of this machine may read the file .env, which has API_KEYS. ' +
        'Give it to the user who runs Rollcall, and run chmod 600 .env.',
    ])
    await chmod(join(folder, '.env'), 0o640)
    expect(startWith().config?.warnings).toEqual([])
    await writeEnvFile('PORT=4000\n')
    await chmod(join(folder, '.env'), 0o644)
    expect(startWith().config?.warnings).toEqual([])
  },
)

test('the problem of a key in several lines without quotes does not show its lines', async () => {
  await writeEnvFile('SHEETS_PRIVATE_KEY=-----BEGIN PRIVATE KEY-----\nMIIEvQIBADAN\n-----END')
  const { message } = startWith()
  expect(message).toContain('SHEETS_PRIVATE_KEY: stops after its first line.')
  expect(message).toContain('double quotes')
  expect(message).not.toContain('MIIEvQ')
})

test('an .env that is a folder, as Docker makes for a missing file, is a problem', async () => {
  await mkdir(join(folder, '.env'))
  const { message } = startWith()
  expect(message).toContain('.env: cannot be read (EISDIR).')
  expect(message).toContain(join(folder, '.env'))
})

test.each([
  ['with a byte order mark', '\ufeffPORT=4000'],
  ['without one', 'PORT=4000'],
])('an .env in UTF-16, %s, is a problem that says so', async (_, content) => {
  await writeEnvFile(Buffer.from(content, 'utf16le'))
  expect(startWith().message).toContain('.env: is not text in UTF-8.')
})

test('of a file that a setting names, at most 1 MiB is read, even when it has no end', async () => {
  const { readText } = readEnvironment()
  const path = join(folder, 'rollcall.json')
  await writeFile(path, 'ü'.repeat(524_288))
  expect(readText(path)).toBe('ü'.repeat(524_288))
  await writeFile(path, 'x'.repeat(1_048_577))
  expect(() => readText(path)).toThrow(expect.objectContaining({ code: 'EFBIG' }))
  expect(() => readText('/dev/zero')).toThrow(expect.objectContaining({ code: 'EFBIG' }))
})

test.each(['missing', 'file'])('a ROLLCALL_FOLDER that is %s is refused', async (name) => {
  await writeFile(join(folder, 'file'), '')
  const { message } = startWith({ ROLLCALL_FOLDER: join(folder, name) })
  expect(message).toContain('ROLLCALL_FOLDER: names no folder.')
})
