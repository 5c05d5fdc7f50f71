import { resolve } from 'node:path'
import type { Command } from '@commander-js/extra-typings'
import type { RestoreResult } from '../journal/contracts/journal.ts'
import { exit, type Run, UsageError } from './session.ts'
import { counted, digits } from '../operations/words.ts'
import { readSettings } from './settings.ts'

export function addRestore(program: Command, run: Run): void {
  program
    .command('restore')
    .description('make a backup the journal again, while no service runs')
    .argument('<file>', 'what the command backup made')
    .option('--replace', 'put the journal that is there aside')
    .option('--json', 'print JSON, for programs')
    .action((file, { replace, json }) =>
      run(async ({ out }) => {
        const { copies } = (await readSettings()).home
        if (copies.kind === 'foreign') throw new UsageError(copies.toRestore)
        const result = await copies.restore(resolve(file), { replace: replace === true })
        if (json) {
          const { journal, aside = null, signups, waiting, forgotten, isQuotaUnknown } = result
          await out.json({ journal, aside, signups, waiting, forgotten, quotaFull: isQuotaUnknown })
        } else await out.lines(...describe(result))
        return exit.done
      }),
    )
}

function describe(result: RestoreResult): string[] {
  const { journal, aside, signups, waiting, forgotten, isQuotaUnknown, isBlind } = result
  const wait = `${digits(waiting)} ${waiting === 1 ? 'waits' : 'wait'}`
  return [
    `Restored: ${journal}, with ${counted(signups, 'signup')}, of which ${wait}.`,
    aside !== undefined && `The journal before is kept as ${aside}.`,
    forgotten > 0 &&
      `Erased again: ${counted(forgotten, 'signup')} of people who were forgotten meanwhile.`,
    isBlind && 'People who were forgotten after the backup are in it again: forget them again.',
    isQuotaUnknown &&
      'The calls since the backup are unknown, so the quota counts as used up by them.',
    'Start the service now.' +
      (waiting > 0 ? ' Before its first batch it compares what waits with the spreadsheet.' : ''),
  ].filter((line) => line !== false)
}
