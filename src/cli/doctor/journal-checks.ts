import { constants } from 'node:fs'
import { access, readdir, realpath, statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { messageOf } from '../../platform/message-of.ts'
import { codeOf } from '../../platform/node/durable-file.ts'
import { isOpenToOthers } from '../../platform/node/owner-only.ts'
import { whyUnusable } from '../../platform/node/unusable-file.ts'
import { leftBehindHint } from '../../service/data-folder.ts'
import { type Check, databaseFindings } from './inspections.ts'
import { type Finding, findingsOf } from '../../platform/finding.ts'
import { serve } from '../../platform/command-words.ts'
import { digits } from '../../platform/digits.ts'

/** What a check says that needs the journal, when that is closed. */
export function notChecked(check: string): readonly Finding[] {
  return [findingsOf(check).skipped('not checked: the journal cannot be used')]
}

/** Whether only this user can read the data, and can write it. */
const folderCheck: Check = async ({ config: { dataDir } }) => {
  const { ok, fault } = findingsOf('data')
  try {
    await readdir(dataDir)
    await access(dataDir, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (error) {
    return codeOf(error) === 'ENOENT'
      ? [ok(`${dataDir} is made with the first start`)]
      : [fault(`${dataDir} cannot be used: ${whyUnusable(error)}`)]
  }
  if (!(await isOpenToOthers(await realpath(dataDir))))
    return [ok('DATA_DIR is private and can be written')]
  return [
    fault(
      `other users of this machine may read files of ${dataDir}`,
      `Take their rights away with chmod -R go= ${dataDir}, as the next start of the service does.`,
    ),
  ]
}

/** Room for about 300,000 signups. */
const freeMin = 100 * 1024 ** 2

/** Whether there is space, shown by a small commit in the journal. */
const diskCheck: Check = async ({ config: { dataDir }, journal }) => {
  const { ok, fault } = findingsOf('disk')
  const hint = 'Free some space, or set DATA_DIR to a folder on another disk.'
  const free = await freeBytes(dataDir).catch(() => undefined)
  if (free === undefined) return notChecked('disk')
  const message = `${digits(Math.floor(free / 1024 ** 2))} MB are free`
  if (free < freeMin) return [fault(`only ${message} in ${dataDir}`, hint)]
  if (!journal) return [ok(message)]
  try {
    await journal.reader.probe()
  } catch (error) {
    return [fault(`${messageOf(error)} ${message}`, hint)]
  }
  return [ok(`${message}, and the journal takes a commit`)]
}

/** The bytes that this user may still write in the folder, or where it would be made. */
async function freeBytes(path: string): Promise<number> {
  try {
    const { bavail, bsize } = await statfs(path)
    return bavail * bsize
  } catch (error) {
    if (codeOf(error) !== 'ENOENT' || dirname(path) === path) throw error
    return freeBytes(dirname(path))
  }
}

const leftBehindCheck: Check = async ({ home }) => {
  const { warning, skipped } = findingsOf('data')
  const old = home.leftBehind()
  return old && !old.isMoved
    ? [warning(`${old.path} is a journal that is not used: DATABASE_URL is set`, leftBehindHint)]
    : [skipped('DATA_DIR is not used: the journal is in the database')]
}

const slowMs = 100

/**
 * Opening a file has checked every page of it. Of a database, this tells how long a commit takes, as every
 * visitor waits for one.
 */
const journalCheck: Check = async ({ home, journal, whyClosed, config, clock }) => {
  const { ok, warning, fault } = findingsOf('journal')
  if (!journal) return [fault(whyClosed)]
  // Also has the sites that the settings do not have.
  await using reading = await home.openReader()
  const figures = await Promise.all(Array.from(reading.sites.values(), (it) => it.figures()))
  const signups = digits(figures.reduce((sum, { all }) => sum + all.accepted, 0))
  if (!config.database) return [ok(`is sound; signups in it: ${signups}`)]
  let ms = Infinity
  // The first commit of a connection takes longer.
  for (let count = 0; count < 3; count++) {
    const begin = clock.elapsed()
    try {
      await journal.reader.probe()
    } catch (error) {
      return [fault(messageOf(error))]
    }
    ms = Math.min(ms, clock.elapsed() - begin)
  }
  const message = `takes a commit in ${ms.toFixed(1)} ms; signups in it: ${signups}`
  if (ms < slowMs) return [ok(message)]
  return [warning(message, 'Run the service near its database: every visitor waits for a commit.')]
}

const processCheck: Check = async ({ home, journal, config: { database } }) => {
  // Without the right to the folder or the way to the database, none would seem to run.
  if (!journal) return notChecked('process')
  const { ok, warning } = findingsOf('process')
  const service = database ? 'instance delivers' : 'service runs with this DATA_DIR'
  return (await home.isInUse())
    ? [ok(`${database ? 'an' : 'a'} ${service}`)]
    : [warning(`no ${service}`, `Start one with ${serve}.`)]
}

export const folderChecks: readonly Check[] = [folderCheck, diskCheck, journalCheck, processCheck]

export const databaseChecks: readonly Check[] = [
  leftBehindCheck,
  databaseFindings,
  journalCheck,
  processCheck,
]
