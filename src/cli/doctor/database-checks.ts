import { messageOf } from '../../platform/message-of.ts'
import { databaseFindings } from '../../service/inspections.ts'
import { leftBehindHint } from '../../service/data-folder.ts'
import { findingsOf } from '../../signup/finding.ts'
import { digits } from '../terminal/words.ts'
import type { Check } from './check.ts'
import { processCheck, signupsIn } from './folder-checks.ts'

const slowMs = 100
/** The first commit of a connection takes longer. */
const tries = 3

/** Whether an earlier journal was left behind. */
const dataDirCheck: Check = async ({ home }) => {
  const { warning, skipped } = findingsOf('data')
  const old = home.leftBehind()
  return old && !old.isMoved
    ? [warning(`${old.path} is a journal that is not used: DATABASE_URL is set`, leftBehindHint)]
    : [skipped('DATA_DIR is not used: the journal is in the database')]
}

/** The signups in the journal, and how long a commit takes, as every visitor waits for one. */
const journalCheck: Check = async ({ journal, parts, whyClosed, session: { clock } }) => {
  const { ok, warning, fault } = findingsOf('journal')
  if (!journal) return [fault(whyClosed)]
  const signups = await signupsIn(parts)
  const times: number[] = []
  for (let count = 0; count < tries; count++) {
    const begin = clock.elapsed()
    try {
      await journal.reader.probe()
    } catch (error) {
      return [fault(messageOf(error))]
    }
    times.push(clock.elapsed() - begin)
  }
  const ms = Math.min(...times)
  const message =
    `takes a commit in ${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms; ` +
    `signups in it: ${digits(signups)}`
  if (ms < slowMs) return [ok(message)]
  return [warning(message, 'Run the service near its database: every visitor waits for a commit.')]
}

export const databaseChecks: readonly Check[] = [
  dataDirCheck,
  databaseFindings,
  journalCheck,
  processCheck,
]
