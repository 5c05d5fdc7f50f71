import { statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { codeOf } from '../../platform/node/durable-file.ts'
import { messageOf } from '../../platform/message-of.ts'
import type { Check } from './check.ts'

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
