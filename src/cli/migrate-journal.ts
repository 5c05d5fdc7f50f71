import { Command } from '@commander-js/extra-typings'
import { moveJournal } from '../service/move-journal.ts'
import { command } from './command.ts'
import { UsageError } from './session.ts'
import { counted } from '../operations/words.ts'

const details = `
Stop the service first, and set DATABASE_URL to an empty database. The journal
is there completely, or not at all. When this command is stopped, run it again:
it begins anew. All rows are compared. The journal in DATA_DIR stays as it is, with a
mark beside it that keeps a service without DATABASE_URL from starting on it.`

export const addMigrateJournal = command(
  new Command('migrate-journal')
    .description('move the journal from DATA_DIR to the PostgreSQL of DATABASE_URL')
    .addHelpText('after', details),
  async ({ config, secrets, notes, clock, stop }) => {
    if (!config.database || secrets.databaseUrl === undefined) {
      throw new UsageError('Set DATABASE_URL to the database that gets the journal.')
    }
    using copying = notes.progress('rows copied')
    const copied = (rows: number) => copying.at(rows)
    const tables = await moveJournal(config, secrets.databaseUrl, { clock, stop, copied })
    const database = `${config.database.name} on ${config.database.host}`
    const done = tables
      ? `Moved to ${database}, and compared: ${counted(tables['signup'] ?? 0, 'signup')}.`
      : `The journal is in ${database} already.`
    return {
      report: { database, moved: tables !== undefined, tables: tables ?? {} },
      lines: [`${done} Start the service with DATABASE_URL.`],
    }
  },
)
