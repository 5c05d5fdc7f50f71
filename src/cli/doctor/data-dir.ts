import { constants } from 'node:fs'
import { access, readdir } from 'node:fs/promises'
import { codeOf } from '../../platform/node/durable-file.ts'
import { isOpenToOthers } from '../../platform/node/owner-only.ts'
import { whyUnusable } from '../../platform/node/unusable-file.ts'
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
