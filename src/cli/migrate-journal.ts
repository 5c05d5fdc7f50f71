import type { Command } from '@commander-js/extra-typings'
import { type Moved, moveJournal } from '../service/move-journal.ts'
import { exit, type ExitCode, type Run, type Session, UsageError } from './session.ts'
import { counted } from './terminal/words.ts'
import { readSettings } from './settings.ts'

interface Options {
  readonly json?: true
}

/** The JSON of `rollcall migrate-journal`. */
interface Report {
  /** The database and its host. */
  readonly database: string
  /** False when an earlier run has moved this journal. */
  readonly moved: boolean
  /** How many rows each table has; empty unless this run moved them. */
  readonly tables: Readonly<Record<string, number>>
}

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
    .action((options) => run((session) => migrateJournal(session, options)))
}

async function migrateJournal(session: Session, { json }: Options): Promise<ExitCode> {
  const { out, notes, clock, stop } = session
  const { config, secrets } = readSettings()
  if (!config.database || secrets.databaseUrl === undefined) {
    throw new UsageError('Set DATABASE_URL to the database that gets the journal.')
  }
  using copying = notes.progress('signups copied')
  using comparing = notes.progress('rows compared')
  const moved = await moveJournal(config, secrets.databaseUrl, {
    clock,
    stop,
    goesOn: (after) => notes.tell(`An earlier run has copied the signups up to number ${after}.`),
    copied: (rows) => copying.at(rows),
    compared: (rows) => comparing.at(rows),
  })
  const { name, host } = config.database
  const report: Report = {
    database: `${name} on ${host}`,
    moved: moved.isNew,
    tables: moved.tables,
  }
  if (json) await out.json(report)
  else await out.line(describe(report, moved))
  return exit.done
}

function describe({ database }: Report, { isNew, tables }: Moved): string {
  if (!isNew) return `The journal is in ${database} already. Start the service with DATABASE_URL.`
  const signups = counted(tables['signup'] ?? 0, 'signup')
  return `Moved to ${database}, and compared: ${signups}. Start the service with DATABASE_URL.`
}
