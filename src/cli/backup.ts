import { resolve } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Command } from '@commander-js/extra-typings'
import { rollcall } from '../platform/command-words.ts'
import { makeWholeFile } from '../platform/node/private-file.ts'
import { counted } from '../operations/words.ts'
import { command } from './command.ts'
import { UsageError } from './session.ts'
import { iso } from '../platform/clock.ts'

const details = `
The file is a journal of its own, with mode 0600, for ${rollcall('restore')}.
It is checked before it gets its name; until then it is FILE.partial. No existing file
is written over.`

export const addBackup = command(
  new Command('backup')
    .description('copy the journal into a new file, while the service runs')
    .argument('<file>', 'the new file')
    .addHelpText('after', details),
  async ({ home: { copies }, clock, stop }, given) => {
    const file = resolve(given)
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
    const are = signups === 1 ? 'is' : 'are'
    return {
      report: { file, completeTo, signups, notIncluded },
      lines: [
        `${counted(signups, 'signup')} ${are} in ${file}: all that were answered before ${completeTo}.`,
        `Not in it: ${notIncluded.join(', ')}`,
      ],
    }
  },
)
