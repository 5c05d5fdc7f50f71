import { type Command, InvalidArgumentError } from '@commander-js/extra-typings'
import { type Config, loadConfig } from '../config/config.ts'
import { readEnvironment } from '../config/env.ts'
import { originList } from '../config/origins.ts'
import { openStoreBeside } from '../service/store.ts'
import type { Finding } from '../spreadsheet/inspection.ts'
import type { Patient } from './doctor/check.ts'
import { checks } from './doctor/checks.ts'
import { exit, type ExitCode, type Run, type Session } from './session.ts'

interface Options {
  readonly json?: true
  readonly origin?: string
}

/** The JSON of `rollcall doctor`. */
export interface Report {
  /** ISO 8601 in UTC. */
  readonly at: string
  /** The address to share the spreadsheet with; null for the local workbook. */
  readonly account: string | null
  /** In the order of the checks. */
  readonly findings: readonly {
    readonly check: string
    readonly state: Finding['state']
    readonly message: string
    readonly hint: string | null
  }[]
}

export function addDoctor(program: Command, run: Run): void {
  program
    .command('doctor')
    .description('check the settings, the spreadsheet and this machine, and say what to do')
    .option('--json', 'print JSON, for programs')
    .option('--origin <url>', 'also check that pages of this origin may send signups', parseOrigin)
    .addHelpText('after', '\nExit code 1: there is at least one fault. A warning is none.')
    .action((options) => run((session) => doctor(session, options)))
}

async function doctor(session: Session, { json, origin }: Options): Promise<ExitCode> {
  const { config, secrets } = loadConfig(readEnvironment())
  const { out, clock, stop } = session
  const found: Finding[] = []
  await using opened = await openJournal(config, session)
  const patient: Patient = { config, secrets, origin, session, journal: opened.journal }
  for (const check of checks) {
    for await (const finding of await check(patient)) {
      found.push(finding)
      if (!json) await out.line(lineOf(finding))
    }
    stop.throwIfAborted()
  }
  const account = accountOf(config)
  if (json) await out.json(report(found, account, clock.now()))
  else await out.write(ending(found, account))
  return found.some(({ state }) => state === 'fault') ? exit.notAll : exit.done
}

/** Opens the journal, which makes it if there is none: calls to the provider are counted in it. */
async function openJournal(
  config: Config,
  session: Session,
): Promise<{ readonly journal: Patient['journal'] } & AsyncDisposable> {
  try {
    const journal = await openStoreBeside(config, session)
    return {
      journal: { kind: 'open', journal },
      [Symbol.asyncDispose]: () => journal[Symbol.asyncDispose](),
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

function ending(found: readonly Finding[], account: string | null): string {
  const count = found.filter(({ state }) => state === 'fault').length
  const faults =
    count === 0 ? 'No fault found.' : `${count} ${count === 1 ? 'fault' : 'faults'} found.`
  const share =
    account === null ? '' : `Share the spreadsheet with this address, as Editor:\n${account}\n`
  return `\n${faults}\n${share}`
}

function report(found: readonly Finding[], account: string | null, now: number): Report {
  return {
    at: new Date(now).toISOString(),
    account,
    findings: found.map(({ check, state, message, hint = null }) => ({
      check,
      state,
      message,
      hint,
    })),
  }
}

function accountOf({ spreadsheet }: Config): string | null {
  return spreadsheet.kind === 'google' ? spreadsheet.credentials.email : null
}

function parseOrigin(text: string): string {
  const parsed = originList(text)
  const [origin, ...more] = 'value' in parsed && parsed.value !== '*' ? parsed.value : []
  if (origin !== undefined && more.length === 0) return origin
  throw new InvalidArgumentError('Give the origin of one page, such as https://example.com.')
}
