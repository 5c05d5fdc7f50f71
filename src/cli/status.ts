import type { Command } from '@commander-js/extra-typings'
import { loadConfig } from '../config/config.ts'
import { readEnvironment } from '../config/env.ts'
import type { Reader } from '../journal/reader.ts'
import { openReader } from '../service/store.ts'
import { exit, type ExitCode, type Run, type Session } from './session.ts'
import { table } from './terminal/table.ts'

interface Options {
  readonly json?: true
}

export function addStatus(program: Command, run: Run): void {
  program
    .command('status')
    .description('how many signups wait for the spreadsheet, and for how long')
    .option('--json', 'print JSON, for programs')
    .action((options) => run((session) => status(session, options)))
}

async function status({ out, clock }: Session, { json }: Options): Promise<ExitCode> {
  const { config } = loadConfig(readEnvironment())
  await using journal = openReader(config, { clock })
  const figures = await readFigures(journal.reader)
  if (json) await out.json(figures)
  else {
    const rows = [
      ['Waiting for the spreadsheet', figures.waiting.toLocaleString('en-US')],
      ['Nothing written since', figures.waitingSince ?? '-'],
    ]
    for (const line of table(rows)) await out.line(line)
  }
  return exit.done
}

/** The JSON of `rollcall status`. */
interface Figures {
  readonly waiting: number
  /** Since when signups wait and nothing was written; null when none waits. */
  readonly waitingSince: string | null
}

async function readFigures(reader: Reader): Promise<Figures> {
  const since = await reader.waitingSince([])
  return {
    waiting: await reader.backlog(),
    waitingSince: since === undefined ? null : new Date(since).toISOString(),
  }
}
