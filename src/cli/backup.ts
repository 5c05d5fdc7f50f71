import { resolve } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Command } from '@commander-js/extra-typings'
import { makeWholeFile } from '../platform/node/private-file.ts'
import { counted } from '../operations/words.ts'
import { exit, type Run, UsageError } from './session.ts'
import { readSettings } from './settings.ts'
import { iso } from '../platform/clock.ts'

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
    .action((given, { json }) =>
      run(async ({ out, clock, stop }) => {
        const file = resolve(given)
        const { copies } = (await readSettings()).home
        if (copies.kind === 'foreign') throw new UsageError(copies.toBackUp)
        // Every signup that was answered before is in the file.
        const completeTo = iso(clock.now())
        const signups = await makeWholeFile(file, async (partial) => {
          const count = await copies.copyTo(partial, stop)
          // The check of the copy lets no signal in.
          await nextTurn()
          stop.throwIfAborted()
          return count
        })
        const { notIncluded } = copies
        if (json) await out.json({ file, completeTo, signups, notIncluded })
        else {
          const are = signups === 1 ? 'is' : 'are'
          await out.lines(
            `${counted(signups, 'signup')} ${are} in ${file}: all that were answered before ${completeTo}.`,
            `Not in it: ${notIncluded.join(', ')}`,
          )
        }
        return exit.done
      }),
    )
}
