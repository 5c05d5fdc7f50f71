import { constants } from 'node:fs'
import { access, readdir, statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Journal } from '../../journal/contracts/journal.ts'
import { messageOf } from '../../platform/message-of.ts'
import { isLocked } from '../../platform/node/directory-lock.ts'
import { codeOf } from '../../platform/node/durable-file.ts'
import { httpClient } from '../../platform/node/http-client.ts'
import { isOpenToOthers } from '../../platform/node/owner-only.ts'
import { whyUnusable } from '../../platform/node/unusable-file.ts'
import { serve } from '../command-words.ts'
import type { Check } from './check.ts'

/** Whether only this user can read the data, and can write it. */
export const dataDirCheck: Check = async ({ config: { dataDir } }) => {
  const check = 'data'
  try {
    await readdir(dataDir)
    await access(dataDir, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') {
      return [{ check, state: 'ok', message: `${dataDir} is made with the first start` }]
    }
    return [{ check, state: 'fault', message: `${dataDir} cannot be used: ${whyUnusable(error)}` }]
  }
  if (!(await isOpenToOthers(dataDir)))
    return [{ check, state: 'ok', message: 'DATA_DIR is private and can be written' }]
  return [
    {
      check,
      state: 'fault',
      message: `other users of this machine may read files of ${dataDir}`,
      hint: `Take their rights away with chmod -R go= ${dataDir}, as the next start of the service does.`,
    },
  ]
}

/** Room for about 300,000 signups. */
const freeMin = 100 * 1024 ** 2

/** Whether there is space, shown by a small commit in the journal. */
export const diskCheck: Check = async ({ config: { dataDir }, journal }) => {
  const check = 'disk'
  const hint = 'Free some space, or set DATA_DIR to a folder on another disk.'
  const free = await freeBytes(dataDir)
  const message = `${megabytes(free)} are free`
  if (free < freeMin)
    return [{ check, state: 'fault', message: `only ${message} in ${dataDir}`, hint }]
  if (journal.kind === 'closed') return [{ check, state: 'ok', message }]
  try {
    await journal.journal.reader.probe()
  } catch (error) {
    const reason = messageOf(error)
    return [{ check, state: 'fault', message: `${reason} ${message}`, hint }]
  }
  return [{ check, state: 'ok', message: `${message}, and the journal takes a commit` }]
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

function megabytes(bytes: number): string {
  return `${Math.floor(bytes / 1024 ** 2).toLocaleString('en-US')} MB`
}

/** Opening the journal has checked every page of it. */
export const journalCheck: Check = async ({ journal }) => {
  const check = 'journal'
  if (journal.kind === 'closed') return [{ check, state: 'fault', message: journal.message }]
  const signups = await signupsIn(journal.parts)
  const message = `is sound; signups in it: ${signups.toLocaleString('en-US')}`
  return [{ check, state: 'ok', message }]
}

/** The signups of all these sites. */
export async function signupsIn(parts: readonly Pick<Journal, 'reader'>[]): Promise<number> {
  const figures = await Promise.all(parts.map(({ reader }) => reader.figures(0, 0)))
  return figures.reduce((sum, { all }) => sum + all.accepted, 0)
}

const timeoutMs = 3_000

/** Who uses `DATA_DIR` and the port. */
export const processCheck: Check = async ({ config: { dataDir, host, port } }) => {
  const check = 'process'
  if (isLocked(dataDir)) {
    const message = 'a service runs with this DATA_DIR; a second one would be refused'
    return [{ check, state: 'ok', message }]
  }
  const other = port === 0 ? undefined : await whoListens(host, port)
  if (other === undefined) {
    const hint = `Start it with ${serve}.`
    return [{ check, state: 'warning', message: `no service runs with ${dataDir}`, hint }]
  }
  return [
    {
      check,
      state: 'fault',
      message: `no service runs with ${dataDir}, and ${other} has port ${port} already`,
      hint: 'Stop that process, or give the service another PORT.',
    },
  ]
}

/** Who answers at the address of the service; undefined when nobody does. */
async function whoListens(host: string, port: number): Promise<string | undefined> {
  const here = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host
  const authority = here.includes(':') ? `[${here}]:${port}` : `${here}:${port}`
  try {
    const { text } = await httpClient({
      method: 'GET',
      url: `http://${authority}/api/health`,
      timeoutMs,
      answerBytesMax: 64 * 1024,
    })
    return text.trim() === '{"status":"ok"}'
      ? 'a Rollcall with another DATA_DIR'
      : 'another program'
  } catch (error) {
    return /ECONNREFUSED|EADDRNOTAVAIL|ENOTFOUND/.test(String(error))
      ? undefined
      : 'another program'
  }
}
