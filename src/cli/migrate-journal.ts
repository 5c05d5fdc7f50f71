import type { Command } from '@commander-js/extra-typings'
import { moveJournal } from '../service/move-journal.ts'
import { exit, type Run, UsageError } from './session.ts'
import { counted } from '../operations/words.ts'
import { readSettings } from './settings.ts'

const details = `
Stop the service first, and set DATABASE_URL to an empty database. The journal
is there completely, or not at all. When this command is stopped, run it again:
it goes on where it was. All rows are compared at the end. The journal in DATA_DIR stays as it is, with a
mark beside it that keeps a service without DATABASE_URL from starting on it.`

export function addMigrateJournal(program: Command, run: Run): void {
  program
    .command('migrate-journal')
    .description('move the journal from DATA_DIR to the PostgreSQL of DATABASE_URL')
    .option('--json', 'print JSON, for programs')
    .addHelpText('after', details)
    .action(({ json }) =>
      run(async ({ out, notes, clock, stop }) => {
        const { config, secrets } = await readSettings()
        if (!config.database || secrets.databaseUrl === undefined) {
          throw new UsageError('Set DATABASE_URL to the database that gets the journal.')
        }
        using copying = notes.progress('signups copied')
        using comparing = notes.progress('rows compared')
        const tables = await moveJournal(config, secrets.databaseUrl, {
          clock,
          stop,
          goesOn: (after) =>
            notes.tell(`An earlier run has copied the signups up to number ${after}.`),
          copied: (rows) => copying.at(rows),
          compared: (rows) => comparing.at(rows),
        })
        const database = `${config.database.name} on ${config.database.host}`
        if (json) await out.json({ database, moved: tables !== undefined, tables: tables ?? {} })
        else {
          const done = tables
            ? `Moved to ${database}, and compared: ${counted(tables['signup'] ?? 0, 'signup')}.`
            : `The journal is in ${database} already.`
          await out.lines(`${done} Start the service with DATABASE_URL.`)
        }
        return exit.done
      }),
    )
}
