import { access, constants } from 'node:fs/promises'
import { join } from 'node:path'
import { codeOf, durableFiles } from '../../platform/node/durable-file.ts'
import { headerFit, headerProblem } from '../header.ts'
import type { Expected } from '../inspection.ts'
import type { Finding } from '../../signup/finding.ts'
import { failureOf } from './failure.ts'
import { grownHeader } from './header-growth.ts'
import { BatchRecord } from './record.ts'
import { planAddition } from './tab-file.ts'

/**
 * Looks at the folder of the workbook and at the files of its tabs. Only reads.
 *
 * @param place how people know the folder
 */
export async function* inspectWorkbook(
  directory: string,
  { defaultTab, tabs, own }: Expected,
  place = 'DATA_DIR/sheets',
): AsyncIterable<Finding> {
  const missing = `the local workbook, ${place}, is made with the first signup`
  const folder = await guarded({ check: 'spreadsheet', directory, missing }, async () => {
    await access(directory, constants.R_OK | constants.W_OK | constants.X_OK)
    // Reading any batch's standing reads the record.
    await new BatchRecord(directory, durableFiles).standingOf({ number: 0, fingerprint: '' })
    return `the local workbook, ${place}, can be written`
  })
  yield folder
  if (folder.state === 'fault') return
  for (const tab of [defaultTab.name, ...tabs]) yield await inspectTab(directory, tab, own)
}

async function inspectTab(directory: string, tab: string, own: Expected['own']): Promise<Finding> {
  const words = `the tab ${JSON.stringify(tab)}`
  let problem: string | undefined
  const missing = `${words} is made with its first signup`
  const finding = await guarded({ check: 'tabs', directory, missing }, async () => {
    const plan = await planAddition(directory, { tab, signups: [] }, own)
    if (plan.creates) return missing
    const grown = await grownHeader(join(directory, plan.fileName), own)
    const header = grown?.header ?? plan.header
    problem = headerProblem(header, own)
    return `${words} ${problem ?? headerFit(header, own)}`
  })
  if (finding.state === 'fault') return { ...finding, message: `${words}: ${finding.message}` }
  return problem === undefined ? finding : { ...finding, state: 'warning' }
}

interface Look {
  readonly check: string
  readonly directory: string
  /** The message when there is nothing yet. */
  readonly missing: string
}

async function guarded(
  { check, directory, missing }: Look,
  look: () => Promise<string>,
): Promise<Finding> {
  try {
    return { check, state: 'ok', message: await look() }
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return { check, state: 'ok', message: missing }
    const failure = failureOf(error, directory)
    const hint = failure.kind === 'refused' ? failure.hint : 'Check the disk'
    return { check, state: 'fault', message: failure.message, hint }
  }
}
