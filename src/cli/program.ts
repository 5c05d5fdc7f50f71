import { readFileSync } from 'node:fs'
import { Command, CommanderError } from '@commander-js/extra-typings'
import { ConfigError } from '../config/problem.ts'
import { JournalUnavailable } from '../journal/contracts/errors.ts'
import { rollcall } from '../platform/command-words.ts'
import { systemClock } from '../platform/clock.ts'
import { messageOf } from '../platform/message-of.ts'
import type { AddCommand, Run } from './command.ts'
import { type Session, type Surroundings, UsageError } from './session.ts'
import { Notes } from './terminal/notes.ts'
import { Output, OutputClosed } from './terminal/output.ts'

/** All is done and well; not all is well, or not all was done; wrong arguments or settings. */
const [done, notAll, badUse] = [0, 1, 2] as const

/** Loads what adds each command. The help shows them in this order. */
const commands: ReadonlyMap<string, () => Promise<AddCommand>> = new Map([
  ['serve', async () => (await import('./serve.ts')).addServe],
  ['init', async () => (await import('./init.ts')).addInit],
  ['doctor', async () => (await import('./doctor.ts')).addDoctor],
  ['status', async () => (await import('./status.ts')).addStatus],
  ['import', async () => (await import('./import.ts')).addImport],
  ['export', async () => (await import('./export.ts')).addExport],
  ['verify', async () => (await import('./verify.ts')).addVerify],
  ['backfill', async () => (await import('./backfill.ts')).addBackfill],
  ['backup', async () => (await import('./backup.ts')).addBackup],
  ['quarantine', async () => (await import('./quarantine.ts')).addQuarantine],
  ['person', async () => (await import('./person.ts')).addPerson],
  ['mail', async () => (await import('./person.ts')).addMail],
  ['webhooks', async () => (await import('./webhooks.ts')).addWebhooks],
  ['forget', async () => (await import('./forget.ts')).addForget],
  ['restore', async () => (await import('./restore.ts')).addRestore],
  ['migrate-journal', async () => (await import('./migrate-journal.ts')).addMigrateJournal],
])

const description = `Takes email signups over HTTP and puts each one, exactly once, as a row in a spreadsheet.
Without a command, Rollcall serves. Every other command runs beside the service.`

const ending = `
Settings are environment variables or lines of a file .env; docs/configuration.md lists them.
Exit codes: 0 done; 1 not all is well, or not all was done; 2 wrong settings or arguments.`

/**
 * Runs one command. Resolves with the exit code when the command is done; the process ends when nothing
 * is left to do.
 *
 * @param args the words after the program's name
 * @param stop as `Session.stop`
 */
export async function runProgram(
  args: readonly string[],
  { stdin, stdout, stderr, env }: Surroundings,
  stop: AbortSignal,
): Promise<number> {
  const session: Session = {
    ...{ stdin, env, stop, clock: systemClock },
    out: new Output(stdout),
    notes: new Notes(stderr, systemClock),
  }
  let code: number = done
  const run: Run = async (work) => {
    code = await work(session).then(
      (isWell) => (isWell ? done : notAll),
      (error: unknown) => report(error, session),
    )
  }
  const words = args.length === 0 ? ['serve'] : args
  const program = createProgram(session)
  for (const add of await loadCommands(words[0])) add(program, run)
  try {
    await program.parseAsync(words, { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    return error.exitCode === 0 ? done : badUse
  }
  return code
}

/** A command's own modules are half of the memory of all, so only the help and wrong words load all. */
function loadCommands(name = ''): Promise<readonly AddCommand[]> {
  const load = commands.get(name)
  const needed = load ? [load] : [...commands.values()]
  return Promise.all(needed.map((it) => it()))
}

function createProgram({ out, notes }: Session): Command {
  return new Command('rollcall')
    .description(description)
    .version(version())
    .addHelpText('after', ending)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void out.write(text).catch(() => {}),
      outputError: (text) => notes.tell(inOneLine(text)),
      getOutHelpWidth: () => 80,
    })
}

function version(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  return (JSON.parse(text) as { version: string }).version
}

/** Leaves out what may be an address or a name, because standard error may go to a log. */
function inOneLine(text: string): string {
  const words = text
    .replace(/^error: /, '')
    .trim()
    .replace(/\s*\n\s*/g, ' ')
    .replace(/(too many arguments .* but got \d+): .*/, '$1')
    .replace(/\S*@\S*/g, '(not shown)')
  return `rollcall: ${words}${/[.?]\)?$/.test(words) ? '' : '.'} Use --help to see what there is.`
}

function report(error: unknown, { notes, stop }: Session): number {
  if (error instanceof OutputClosed) return notAll
  if (stop.aborted) {
    notes.tell('Stopped before everything was done.')
    return notAll
  }
  const words = messageOf(error)
  const isJournal = error instanceof JournalUnavailable
  notes.tell(isJournal ? `${words} Free space on its disk, or run ${rollcall('doctor')}.` : words)
  return error instanceof ConfigError || error instanceof UsageError ? badUse : notAll
}
