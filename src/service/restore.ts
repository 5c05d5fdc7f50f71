import { constants, existsSync } from 'node:fs'
import { copyFile, link, realpath, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '../config/config.ts'
import { copyBackup } from '../journal/sqlite/copy.ts'
import { makeRestored, type Restored } from '../journal/sqlite/restore.ts'
import type { Clock } from '../platform/clock.ts'
import { lockDirectory } from '../platform/node/directory-lock.ts'
import { durableFiles, syncFile } from '../platform/node/durable-file.ts'
import { journalFile } from './data-folder.ts'
import { policiesOf } from './journal-policy.ts'

export interface RestoreResult extends Restored {
  /** The restored journal. */
  readonly journal: string
  /** The journal that was there before; undefined when there was none. */
  readonly aside: string | undefined
}

/** SQLite's files beside a database. */
const companions = ['-wal', '-shm']

/**
 * Makes the backup in this file the journal of `DATA_DIR`. A crash at any point leaves the journal before
 * or the restored one. No provider is called: the service compares the spreadsheet later.
 *
 * @param replace whether to put a journal that is there aside, instead of refusing
 * @throws Error when a service runs on `DATA_DIR`, when the backup cannot be used, and when a journal is
 *   there that may not be replaced; the message says what to do
 */
export async function restoreJournal(
  config: Config,
  backup: string,
  { clock, replace }: { readonly clock: Clock; readonly replace: boolean },
): Promise<RestoreResult> {
  using _lock = await lockDirectory(config.dataDir, journalFile, clock)
  const journal = join(config.dataDir, journalFile)
  const isThere = ['', ...companions].some((end) => existsSync(journal + end))
  if (isThere && !replace) throw new Error(thereAlready(journal))
  if (existsSync(backup) && existsSync(journal)) {
    const [one, other] = [await realpath(backup), await realpath(journal)]
    if (one === other) throw new Error(`${backup} is the journal itself. Give a backup of it.`)
  }
  const options = { policies: policiesOf(config), clock, accounts: accountsOf(config) }
  const made = `${journal}.restored`
  try {
    copyBackup(backup, made)
    const restored = await makeRestored(made, options, isThere ? journal : undefined)
    await syncFile(made)
    const aside = isThere ? await putAside(journal, clock.now()) : undefined
    for (const end of companions) await rm(journal + end, { force: true })
    await rename(made, journal)
    await durableFiles.syncDirectory(config.dataDir)
    return { ...restored, journal, aside }
  } finally {
    for (const end of ['', ...companions]) await rm(made + end, { force: true })
  }
}

/** The accounts of all sites, each once. */
function accountsOf({ sites }: Pick<Config, 'sites'>) {
  const accounts = sites.flatMap(({ spreadsheet }) => {
    if (spreadsheet.kind === 'workbook') return []
    const { credentials, quota } = spreadsheet
    return [[credentials.email, { name: credentials.email, quota }] as const]
  })
  return [...new Map(accounts).values()]
}

/** Gives the journal a second name. A sound one is a single file by now; a damaged one may have a log. */
async function putAside(journal: string, now: number): Promise<string> {
  const time = new Date(now).toISOString().replace(/[-:]|\.\d+/g, '')
  const aside = freeName(`${journal}.before-${time}`)
  for (const end of ['', '-wal']) {
    if (existsSync(journal + end)) await nameToo(journal + end, aside + end)
  }
  return aside
}

/** Two restores in one second each keep the journal before them. */
function freeName(wanted: string, tries = 1): string {
  const name = tries === 1 ? wanted : `${wanted}-${tries}`
  const isTaken = existsSync(name) || existsSync(`${name}-wal`)
  return isTaken ? freeName(wanted, tries + 1) : name
}

async function nameToo(file: string, other: string): Promise<void> {
  try {
    await link(file, other)
  } catch {
    // Some file systems have no second names.
    await copyFile(file, other, constants.COPYFILE_EXCL)
    await syncFile(other)
  }
}

function thereAlready(journal: string): string {
  return (
    `${journal} is there already. Give --replace: the restored journal takes its place, and it is kept ` +
    `beside it as ${journal}.before-DATE.`
  )
}
