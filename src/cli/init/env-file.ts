import { lstat, readFile, rm } from 'node:fs/promises'
import type { EnvFile } from '../../config/env/env-file.ts'
import { type EnvChanges, editEnvFile } from '../../config/env/env-file-edit.ts'
import { describeGiven } from '../../config/problem.ts'
import { durableFiles, ifExists } from '../../platform/node/durable-file.ts'
import type { Ask } from './ask.ts'

/** Asks before a value of the file is replaced or removed. Settings of a group change together or not at all. */
export async function confirmChanges(
  groups: readonly EnvChanges[],
  file: EnvFile | undefined,
  ask: Ask,
): Promise<EnvChanges> {
  const oldOf = (name: string) => file?.variables[name] ?? ''
  const confirmed = new Map<string, string | undefined>()
  for (const group of groups) {
    const changed = [...group].filter(([name, value = '']) => oldOf(name) !== value)
    const lost = changed.filter(([name]) => oldOf(name) !== '')
    const given = lost.map(([name]) => `${name} to ${describeGiven(name, oldOf(name))}`)
    const question = `.env sets ${given.join(', ')}. ${lost.some(([, value]) => value) ? 'Replace' : 'Remove'} it?`
    if (lost.length > 0 && !(await ask.isSure(question, false))) continue
    for (const [name, value] of changed) confirmed.set(name, value)
  }
  return confirmed
}

/** The text of the file; empty when there is none. @throws Error when it is a link */
export async function readEnvText(path: string): Promise<string> {
  const found = await ifExists(lstat(path))
  if (!found) return ''
  if (!found.isSymbolicLink()) return readFile(path, 'utf8')
  throw new Error(`${path} is a link, and Rollcall writes through none. Put the file itself there.`)
}

/**
 * Writes the changes, with mode 0600. The file is the old one or the new one, complete, whenever this
 * stops.
 *
 * @param before the text that the changes were made for
 * @throws Error when somebody has changed the file meanwhile
 */
export async function writeEnvFile(
  path: string,
  before: string,
  changes: EnvChanges,
): Promise<void> {
  const text = editEnvFile(before, changes)
  if ((await readEnvText(path)) !== before) {
    throw new Error(
      `${path} was changed meanwhile, so nothing was written. Run this command again.`,
    )
  }
  // What a stopped write has left may have another mode.
  await rm(`${path}.tmp`, { force: true })
  await durableFiles.replace(path, text)
}
