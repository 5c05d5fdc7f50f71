import { storeOf } from '../../service/choose-store.ts'
import { inspectDatabase } from '../../service/inspect-database.ts'
import { leftBehindHint, oldJournalIn } from '../../service/moved-mark.ts'
import type { Finding } from '../../spreadsheet/inspection.ts'
import { serve } from '../command-words.ts'
import type { Check } from './check.ts'
import { signupsIn } from './folder-checks.ts'

const slowMs = 100
/** The first commit of a connection takes longer. */
const tries = 3

/** Whether an earlier journal was left behind. */
const dataDirCheck: Check = async ({ config: { dataDir } }) => {
  const check = 'data'
  const old = oldJournalIn(dataDir)
  if (old && !old.isMoved) {
    const message = `${old.path} is a journal that is not used: DATABASE_URL is set`
    return [{ check, state: 'warning', message, hint: leftBehindHint }]
  }
  const message = 'DATA_DIR is not used: the journal is in the database'
  return [{ check, state: 'skipped', message }]
}

/** From the way to the server to its settings. */
const databaseCheck: Check = ({ config, secrets, session: { clock } }) =>
  inspectDatabase(config, secrets, clock)

/** The signups in the journal, and how long a commit takes, as every visitor waits for one. */
const journalCheck: Check = async ({ journal, session: { clock } }) => {
  const check = 'journal'
  if (journal.kind === 'closed') return [{ check, state: 'fault', message: journal.message }]
  const { reader } = journal.journal
  const signups = await signupsIn(journal.parts)
  const times: number[] = []
  for (let count = 0; count < tries; count++) {
    const begin = clock.elapsed()
    try {
      await reader.probe()
    } catch (error) {
      return [{ check, state: 'fault', message: error instanceof Error ? error.message : '' }]
    }
    times.push(clock.elapsed() - begin)
  }
  const ms = Math.min(...times)
  const message =
    `takes a commit in ${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms; ` +
    `signups in it: ${signups.toLocaleString('en-US')}`
  if (ms < slowMs) return [{ check, state: 'ok', message }]
  const hint = 'Run the service near its database: every visitor waits for a commit.'
  return [{ check, state: 'warning', message, hint }]
}

/** Whether any instance delivers. Others may only take signups. */
const instancesCheck: Check = async ({ config, secrets, journal, session }) => {
  const check = 'process'
  const finding = (rest: Omit<Finding, 'check'>) => [{ check, ...rest }]
  if (journal.kind === 'closed') {
    return finding({ state: 'skipped', message: 'not checked: the journal cannot be used' })
  }
  if (await storeOf(config, secrets, session).isInUse()) {
    return finding({ state: 'ok', message: 'an instance delivers' })
  }
  return finding({
    state: 'warning',
    message: 'no instance delivers',
    hint: `Start one with ${serve}.`,
  })
}

export const databaseChecks: readonly Check[] = [
  dataDirCheck,
  databaseCheck,
  journalCheck,
  instancesCheck,
]
