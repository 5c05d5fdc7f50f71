import { join } from 'node:path'
import type { Command } from '@commander-js/extra-typings'
import { type Environment, loadConfig } from '../config/config.ts'
import { readEnvironment } from '../config/env/env.ts'
import { textOf } from '../config/reader.ts'
import { type EnvChanges, editEnvFile } from '../config/env/env-file-edit.ts'
import { parseEnvFile } from '../config/env/env-file.ts'
import { partOf } from '../operations/journal-home.ts'
import { sendTestSignup } from '../operations/test-signup.ts'
import { startService } from '../service/service.ts'
import { rollcall, serve } from './command-words.ts'
import { diagnoseInLines } from './doctor/diagnose.ts'
import { assertOthers } from './init/answers.ts'
import type { Ask } from './init/ask.ts'
import { exit, type ExitCode, type Run, type Session, UsageError } from './session.ts'
import { readSettings } from './settings.ts'

export function addInit(program: Command, run: Run): void {
  program
    .command('init')
    .description('ask for the settings, write them to .env, and check them')
    .addHelpText('after', '\nNothing is written before the last question. Ctrl-C stops.')
    .action(() => run(init))
}

async function init(session: Session): Promise<ExitCode> {
  const environment = readEnvironment()
  if (textOf(environment.variables['ROLLCALL_CONFIG']) !== undefined) {
    throw new UsageError(
      'This command sets up one site, and ROLLCALL_CONFIG names a file of sites. Change that file, and let ' +
        'rollcall doctor check it: docs/sites.md.',
    )
  }
  // Other settings have to be right first.
  assertOthers(environment)
  if (!session.out.isTerminal || !process.stdin.isTTY) {
    throw new UsageError(
      'This command asks questions, so it needs a terminal. Elsewhere write .env by hand: docs/configuration.md.',
    )
  }
  // No other command needs the library that asks.
  const { askOnTerminal, Cancelled } = await import('./init/ask.ts')
  const ask = askOnTerminal(session.stop)
  const path = join(environment.folder, '.env')
  let isWritten = false
  try {
    isWritten = await setUp(environment, path, ask, session)
    return await check(ask, session)
  } catch (error) {
    if (!(error instanceof Cancelled)) throw error
    session.notes.tell(isWritten ? `Stopped. ${path} is written.` : 'Stopped. Nothing was written.')
    return exit.notAll
  }
}

/** Asks, and writes the file. Returns true. */
async function setUp(
  environment: Environment,
  path: string,
  ask: Ask,
  { out, notes }: Session,
): Promise<true> {
  const { askForSettings } = await import('./init/questions.ts')
  const { confirmChanges, readEnvText, writeEnvFile } = await import('./init/env-file.ts')
  const before = await readEnvText(path)
  const wanted = await askForSettings(environment, ask, out)
  const changes = await confirmChanges(wanted, environment.envFile, ask)
  assertTogether(environment, before, changes)
  if (changes.size > 0) await writeEnvFile(path, before, changes)
  await out.write(changes.size > 0 ? `\nWritten: ${path}\n` : `\n${path} stays as it is.\n`)
  for (const [name, value = ''] of wanted.flatMap((group) => [...group])) {
    if (!isFromFile(environment, name) && environment.variables[name] !== value) {
      notes.tell(`${name} is also set in the environment of this process, which wins over .env.`)
    }
  }
  return true
}

/** @throws ConfigError when the file with the changes would not let the service start */
function assertTogether(environment: Environment, before: string, changes: EnvChanges): void {
  const envFile = parseEnvFile(editEnvFile(before, changes))
  const ofProcess = Object.entries(environment.variables).filter(
    ([name]) => !isFromFile(environment, name),
  )
  const variables = { ...envFile.variables, ...Object.fromEntries(ofProcess) }
  loadConfig({ ...environment, envFile, variables })
}

function isFromFile({ variables, envFile }: Environment, name: string): boolean {
  return variables[name] === undefined || variables[name] === envFile?.variables[name]
}

/** Runs the checks of doctor until there is no fault, or the person has enough. Then offers a test signup. */
async function check(ask: Ask, session: Session): Promise<ExitCode> {
  for (;;) {
    await session.out.lines('')
    const settings = await readSettings()
    const { sites } = settings.config
    const subject = { ...settings, sites, sendsNotice: false }
    if (await diagnoseInLines(subject, session)) {
      return (await tryOut(settings, ask, session)) ? exit.done : exit.notAll
    }
    if (!(await ask.isSure('Check again?', true))) return exit.notAll
  }
}

/** Offers to send a test signup and to remove it again. Returns whether all that was wanted was done. */
async function tryOut(
  { config, secrets, home }: Awaited<ReturnType<typeof readSettings>>,
  ask: Ask,
  { out, clock, stop }: Session,
): Promise<boolean> {
  if (await home.isInUse()) {
    await out.lines('\nA service is running: start it again, so that it takes these settings.')
    return true
  }
  if (!(await ask.isSure('Send a test signup, to see its row?', true))) return true
  const local = { ...config, host: '127.0.0.1', port: 0 }
  await using service = await startService(local, secrets, { isQuiet: true })
  await using opened = await home.openBeside()
  const test = await sendTestSignup(partOf(opened.sites, config.sites[0]), clock, stop)
  const problem = await test.written()
  if (problem !== undefined) {
    await test.erase()
    await out.lines(`\nThe test signup has no row, and gets none: ${problem}`)
    return false
  }
  await out.lines(`\nThe row of ${test.address} is in ${service.locations[0] ?? ''}
To remove it later: ${rollcall}forget ${test.address}`)
  if (!(await ask.isSure('Remove it again?', true))) return true
  await test.erase()
  const isRemoved = await test.erased()
  const done = isRemoved ? 'is removed' : 'is not removed yet: the service does that'
  await out.lines(`\nIt ${done}. Start the service: ${serve}`)
  return isRemoved
}
