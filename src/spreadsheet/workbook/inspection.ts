import { access, constants } from 'node:fs/promises'
import { join } from 'node:path'
import { codeOf, durableFiles } from '../../platform/node/durable-file.ts'
import { headerFinding } from '../header.ts'
import type { Expected } from '../inspection.ts'
import { type Finding, findingsOf } from '../../platform/finding.ts'
import { failureOf } from './failure.ts'
import { grownHeader } from './header-row.ts'
import { BatchRecord } from './record.ts'
import { planAddition } from './tab-file.ts'

/**
 * Looks at the folder of the workbook and at the files of its tabs. Only reads.
 *
 * @param place how people know the folder
 */
export async function* inspectWorkbook(
  directory: string,
  { tabs, own }: Expected,
  place = 'DATA_DIR/sheets',
): AsyncIterable<Finding> {
  const { ok, fault } = findingsOf('spreadsheet')
  try {
    await access(directory, constants.R_OK | constants.W_OK | constants.X_OK)
    // Reading any batch's standing reads the record.
    await new BatchRecord(directory, durableFiles).standingOf({ number: 0, fingerprint: '' })
    yield ok(`the local workbook, ${place}, can be written`)
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') {
      const { message, hint } = problemOf(error, directory)
      yield fault(message, hint)
      return
    }
    yield ok(`the local workbook, ${place}, is made with the first signup`)
  }
  for (const tab of tabs) yield await inspectTab(directory, tab, own)
}

async function inspectTab(directory: string, tab: string, own: Expected['own']): Promise<Finding> {
  const words = `the tab ${JSON.stringify(tab)}`
  const { ok, fault } = findingsOf('tabs')
  const missing = ok(`${words} is made with its first signup`)
  try {
    const plan = await planAddition(directory, { tab, signups: [] }, own)
    if (plan.creates) return missing
    const grown = await grownHeader(join(directory, plan.fileName), own)
    return headerFinding(words, grown?.header ?? plan.header, own)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return missing
    const { message, hint } = problemOf(error, directory)
    return fault(`${words}: ${message}`, hint)
  }
}

function problemOf(error: unknown, directory: string) {
  const failure = failureOf(error, directory)
  return { hint: 'Check the disk', ...failure }
}
