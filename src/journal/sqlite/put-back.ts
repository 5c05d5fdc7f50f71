import { existsSync } from 'node:fs'
import { realpath, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { addName, durableFiles, syncFile } from '../../platform/node/durable-file.ts'
import type { RestoreResult } from '../contracts/journal.ts'
import { copyBackup } from './copy.ts'
import { makeRestored, type RestoreOptions } from './restore.ts'

/** SQLite's files beside a database. */
const companions = ['-wal', '-shm']

/**
 * Makes a backup the journal with this file. A crash at any point leaves the journal before or the restored
 * one. Nobody uses the journal meanwhile.
 *
 * @param replace whether to put a journal that is there aside, instead of refusing
 * @throws Error when the backup cannot be used, and when a journal is there that may not be replaced; the
 *   message says what to do
 */
export async function putBack(
  journal: string,
  backup: string,
  { replace, ...options }: RestoreOptions & { readonly replace: boolean },
): Promise<RestoreResult> {
  const isThere = ['', ...companions].some((end) => existsSync(journal + end))
  if (isThere && !replace) throw new Error(thereAlready(journal))
  if (existsSync(backup) && existsSync(journal)) {
    const [one, other] = [await realpath(backup), await realpath(journal)]
    if (one === other) throw new Error(`${backup} is the journal itself. Give a backup of it.`)
  }
  const made = `${journal}.restored`
  try {
    copyBackup(backup, made)
    const restored = await makeRestored(made, options, isThere ? journal : undefined)
    await syncFile(made)
    const aside = isThere ? await putAside(journal, options.clock.now()) : undefined
    for (const end of companions) await rm(journal + end, { force: true })
    await rename(made, journal)
    await durableFiles.syncDirectory(dirname(journal))
    return { ...restored, journal, aside }
  } finally {
    for (const end of ['', ...companions]) await rm(made + end, { force: true })
  }
}

/** Gives the journal a second name. A sound one is a single file by now; a damaged one may have a log. */
async function putAside(journal: string, now: number): Promise<string> {
  const time = new Date(now).toISOString().replace(/[-:]|\.\d+/g, '')
  const aside = freeName(`${journal}.before-${time}`)
  for (const end of ['', '-wal']) {
    if (existsSync(journal + end)) await addName(journal + end, aside + end)
  }
  return aside
}

/** Two restores in one second each keep the journal before them. */
function freeName(wanted: string, tries = 1): string {
  const name = tries === 1 ? wanted : `${wanted}-${tries}`
  const isTaken = existsSync(name) || existsSync(`${name}-wal`)
  return isTaken ? freeName(wanted, tries + 1) : name
}

function thereAlready(journal: string): string {
  return (
    `${journal} is there already. Give --replace: the restored journal takes its place, and it is kept ` +
    `beside it as ${journal}.before-DATE.`
  )
}
