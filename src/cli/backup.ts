import { resolve } from 'node:path'
import type { Command } from '@commander-js/extra-typings'
import { makeWholeFile } from '../platform/node/private-file.ts'
import { counted, iso } from './terminal/words.ts'
import { exit, type ExitCode, type Run, type Session, UsageError } from './session.ts'
import { readSettings } from './settings.ts'

interface Options {
  readonly json?: true
}

/** The JSON of `rollcall backup`. */
interface Report {
  readonly file: string
  /** Every signup that was answered before this moment is in the file. ISO 8601 in UTC. */
  readonly completeTo: string
  readonly signups: number
  /** Paths of what else there is to keep, which is not in the file. */
  readonly notIncluded: readonly string[]
}

const details = `
The file is a journal of its own, with mode 0600, for rollcall restore. It is
checked before it gets its name; until then it is FILE.partial. No existing file
is written over.`

export function addBackup(program: Command, run: Run): void {
  program
    .command('backup')
    .description('copy the journal into a new file, while the service runs')
    .argument('<file>', 'the new file')
    .option('--json', 'print JSON, for programs')
    .addHelpText('after', details)
    .action((file, options) => run((session) => backUp(session, resolve(file), options)))
}

async function backUp(
  { out, clock, stop }: Session,
  file: string,
  { json }: Options,
): Promise<ExitCode> {
  const { copies } = readSettings().home
  if (copies.kind === 'foreign') throw new UsageError(copies.toBackUp)
  const now = clock.now()
  const signups = await makeWholeFile(file, async (partial) => {
    const count = await copies.copyTo(partial, stop)
    // The check of the copy lets no signal in.
    await new Promise((resolve) => setImmediate(resolve))
    stop.throwIfAborted()
    return count
  })
  const report: Report = {
    file,
    completeTo: iso(now),
    signups,
    notIncluded: copies.notIncluded,
  }
  if (json) await out.json(report)
  else await out.write(describe(report))
  return exit.done
}

function describe({ file, completeTo, signups, notIncluded }: Report): string {
  return (
    `${counted(signups, 'signup')} ${signups === 1 ? 'is' : 'are'} in ${file}: all that were answered before ${completeTo}.\n` +
    `Not in it: ${notIncluded.join(', ')}\n`
  )
}
