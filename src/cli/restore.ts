import { resolve } from 'node:path'
import { Command } from '@commander-js/extra-typings'
import type { RestoreResult } from '../journal/contracts/journal.ts'
import { command } from './command.ts'
import { UsageError } from './session.ts'
import { counted } from '../operations/words.ts'
import { digits } from '../platform/digits.ts'

export const addRestore = command(
  new Command('restore')
    .description('make a backup the journal again, while no service runs')
    .argument('<file>', 'what the command backup made')
    .option('--replace', 'put the journal that is there aside'),
  async ({ home: { copies } }, file, { replace = false }) => {
    if (copies.kind === 'foreign') throw new UsageError(copies.toRestore)
    const result = await copies.restore(resolve(file), { replace })
    const { journal, aside = null, signups, waiting, forgotten, isQuotaUnknown } = result
    const report = { journal, aside, signups, waiting, forgotten, quotaFull: isQuotaUnknown }
    return { report, lines: describe(result) }
  },
)

function describe(result: RestoreResult): string[] {
  const { journal, aside, signups, waiting, forgotten, isQuotaUnknown, isBlind } = result
  const wait = `${digits(waiting)} ${waiting === 1 ? 'waits' : 'wait'}`
  return [
    `Restored: ${journal}, with ${counted(signups, 'signup')}, of which ${wait}.`,
    aside !== undefined && `The journal before is kept as ${aside}.`,
    forgotten > 0 &&
      `Erased again: ${counted(forgotten, 'signup')} of people who were forgotten meanwhile.`,
    isBlind && 'People who were forgotten after the backup are in it again: forget them again.',
    isBlind &&
      'Who confirmed, declined or left after it is unknown: they are pending or on the list as they were.',
    isBlind &&
      'What was released from quarantine or erased there after it is held again: what is released again may get a second row.',
    isBlind &&
      'With CLOSES_AFTER all seats count as taken until the service has compared the spreadsheet.',
    isQuotaUnknown &&
      'The calls since the backup are unknown, so the quota counts as used up by them.',
    'Start the service now.' +
      (waiting > 0 ? ' Before its first batch it compares what waits with the spreadsheet.' : ''),
  ].filter((line) => line !== false)
}
