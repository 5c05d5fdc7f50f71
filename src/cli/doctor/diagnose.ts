import type { Config } from '../../config/config.ts'
import { storeOf } from '../../service/choose-store.ts'
import { partOf } from '../../service/running-site.ts'
import type { Finding } from '../../spreadsheet/inspection.ts'
import type { Session } from '../session.ts'
import { counted } from '../terminal/counted.ts'
import type { OpenedJournal, Patient } from './check.ts'
import { checksOf } from './checks.ts'

export type Subject = Pick<Patient, 'config' | 'secrets' | 'origin'>

/**
 * Runs all checks in order. Opens the journal meanwhile, and makes it if there is none, because calls to
 * the provider are counted in it.
 */
export async function* diagnose(subject: Subject, session: Session): AsyncGenerator<Finding> {
  await using opened = await openJournal(subject, session)
  const patient: Patient = {
    ...subject,
    site: subject.config.sites[0],
    session,
    journal: opened.journal,
  }
  for (const check of checksOf(subject.config)) {
    yield* await check(patient)
    session.stop.throwIfAborted()
  }
}

/** Prints one line for each finding, and an ending. Returns whether there is no fault. */
export async function diagnoseInLines(subject: Subject, session: Session): Promise<boolean> {
  const { out } = session
  let faults = 0
  for await (const finding of diagnose(subject, session)) {
    if (finding.state === 'fault') faults += 1
    await out.line(lineOf(finding))
  }
  const account = accountOf(subject.config)
  const share =
    account === null ? '' : `Share the spreadsheet with this address, as Editor:\n${account}\n`
  const found = faults === 0 ? 'No fault' : counted(faults, 'fault')
  await out.write(`\n${found} found.\n${share}`)
  return faults === 0
}

/** The address to share the spreadsheet with; null for the local workbook. */
export function accountOf({ sites: [{ spreadsheet }] }: Config): string | null {
  return spreadsheet.kind === 'google' ? spreadsheet.credentials.email : null
}

async function openJournal(
  { config, secrets }: Subject,
  session: Session,
): Promise<{ readonly journal: OpenedJournal } & AsyncDisposable> {
  try {
    const opened = await storeOf(config, secrets, session).openBeside()
    return {
      journal: { kind: 'open', journal: partOf(opened.sites, config.sites[0]) },
      [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
    }
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    return { journal: { kind: 'closed', message }, [Symbol.asyncDispose]: async () => {} }
  }
}

const marks = { ok: 'ok', warning: 'warning', fault: 'FAULT', skipped: '-' } as const

function lineOf({ check, state, message, hint }: Finding): string {
  const end = /[.!?]$/.test(message) ? '' : '.'
  const what = hint === undefined ? message : `${message}${end} Do: ${hint}`
  return `${marks[state].padEnd(7)} ${check.padEnd(11)} ${what}`
}
