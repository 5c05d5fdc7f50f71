import { join } from 'node:path'
import { Command } from '@commander-js/extra-typings'
import { loadConfig } from '../config/config.ts'
import { readEnvironment } from '../config/env/env.ts'
import { textOf } from '../config/reader.ts'
import { editEnvFile } from '../config/env/env-file-edit.ts'
import { parseEnvFile } from '../config/env/env-file.ts'
import { partOf } from '../operations/journal-home.ts'
import { sendTestSignup } from '../operations/test-signup.ts'
import { startService } from '../service/service.ts'
import { rollcall, serve } from '../platform/command-words.ts'
import { diagnoseInLines } from './doctor/diagnose.ts'
import { assertOthers } from './init/answers.ts'
import type { Asking } from './init/questions.ts'
import { plainCommand } from './command.ts'
import { type Session, UsageError } from './session.ts'
import { readSettings, type Settings } from './settings.ts'

export const addInit = plainCommand(
  new Command('init')
    .description('ask for the settings, write them to .env, and check them')
    .addHelpText('after', '\nNothing is written before the last question. Ctrl-C stops.'),
  async (session) => ({ isWell: await init(session) }),
)

/** Whether all that was wanted was done, and all is well. */
async function init(session: Session): Promise<boolean> {
  const environment = readEnvironment(session.env)
  if (textOf(environment.variables['ROLLCALL_CONFIG']) !== undefined) {
    throw new UsageError(
      'This command sets up one site, and ROLLCALL_CONFIG names a file of sites. Change that file, and let ' +
        `${rollcall('doctor')} check it: docs/sites.md.`,
    )
  }
  // Other settings have to be right first.
  assertOthers(environment)
  if (!session.out.isTerminal || !session.stdin.isTTY) {
    throw new UsageError(
      'This command asks questions, so it needs a terminal. Elsewhere write .env by hand: docs/configuration.md.',
    )
  }
  // No other command needs the library that asks.
  const { askOnTerminal, Cancelled } = await import('./init/ask.ts')
  const asking = { environment, ask: askOnTerminal(session.stop), session }
  const path = join(environment.folder, '.env')
  let isWritten = false
  try {
    await setUp(asking, path)
    isWritten = true
    return await check(asking)
  } catch (error) {
    if (!(error instanceof Cancelled)) throw error
    session.notes.tell(isWritten ? `Stopped. ${path} is written.` : 'Stopped. Nothing was written.')
    return false
  }
}

/** Asks, and writes the file. @throws ConfigError when the service could not start with it */
async function setUp(asking: Asking, path: string): Promise<void> {
  const { environment, ask, session } = asking
  const { askForSettings } = await import('./init/questions.ts')
  const { confirmChanges, readEnvText, writeEnvFile } = await import('./init/env-file.ts')
  const before = await readEnvText(path)
  const wanted = await askForSettings(asking)
  const changes = await confirmChanges(wanted, environment.envFile, ask)
  const { variables } = environment
  const isFromFile = (name: string) => {
    return variables[name] === undefined || variables[name] === environment.envFile?.variables[name]
  }
  const ofProcess = Object.entries(variables).filter(([name]) => !isFromFile(name))
  const envFile = parseEnvFile(editEnvFile(before, changes))
  const together = { ...envFile.variables, ...Object.fromEntries(ofProcess) }
  loadConfig({ ...environment, envFile, variables: together })
  if (changes.size > 0) await writeEnvFile(path, before, changes)
  await session.out.write(changes.size > 0 ? `\nWritten: ${path}\n` : `\n${path} stays as it is.\n`)
  for (const [name, value = ''] of wanted.flatMap((group) => [...group])) {
    if (isFromFile(name) || variables[name] === value) continue
    session.notes.tell(
      `${name} is also set in the environment of this process, which wins over .env.`,
    )
  }
}

/** Runs the checks of doctor until there is no fault, or the person has enough. Then offers a test signup. */
async function check(asking: Asking): Promise<boolean> {
  const { ask, session } = asking
  for (;;) {
    await session.out.lines('')
    const settings = await readSettings(session)
    const { sites } = settings.config
    if (await diagnoseInLines({ ...session, ...settings, sites, sendsNotice: false }))
      return await tryOut(settings, asking)
    if (!(await ask.isSure('Check again?', true))) return false
  }
}

/** Offers to send a test signup and to remove it again. Returns whether all that was wanted was done. */
async function tryOut({ config, secrets, home }: Settings, { ask, session }: Asking) {
  const { out, clock, stop } = session
  if (await home.isInUse()) {
    await out.lines('\nA service is running: start it again, so that it takes these settings.')
    return true
  }
  const [site] = config.sites
  const keeps = site.closing.after === undefined ? '' : ' It takes one of the seats for good.'
  if (!(await ask.isSure(`Send a test signup, to see its row?${keeps}`, true))) return true
  const local = { ...config, host: '127.0.0.1', port: 0 }
  await using service = await startService(local, secrets, { isQuiet: true })
  await using opened = await home.openBeside()
  const test = await sendTestSignup(partOf(opened.sites, site), clock, stop)
  const problem = await test.written()
  if (problem !== undefined) {
    await test.erase()
    await out.lines(`\nThe test signup has no row, and gets none: ${problem}`)
    return false
  }
  await out.lines(`\nThe row of ${test.address} is in ${service.locations[0] ?? ''}
To remove it later: ${rollcall(`forget ${test.address}`)}`)
  if (!(await ask.isSure('Remove it again?', true))) return true
  await test.erase()
  const isRemoved = await test.erased()
  const done = isRemoved ? 'is removed' : 'is not removed yet: the service does that'
  await out.lines(`\nIt ${done}. Start the service: ${serve}`)
  return isRemoved
}
