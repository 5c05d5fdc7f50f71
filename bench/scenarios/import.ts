import { open } from 'node:fs/promises'
import { type Beside, besideCommand } from '../beside-command.ts'
import { percentile } from '../percentile.ts'
import type { Scenario, Sizes } from '../scenario.ts'
import { googleSettings, World } from '../world.ts'
import { besideLine, besideScenarios, perSecond } from './beside.ts'

async function measure({ large }: Sizes): Promise<Beside> {
  await using world = await World.create()
  const provider = await world.provider({ delayMs: 350 })
  const dataDir = world.path('data')
  const service = await world.service(provider, { dataDir })
  const file = world.path('list.csv')
  await writeList(file, large)
  const args = ['import', file, '--json']
  const env = googleSettings(provider.url)
  const beside = await besideCommand({ url: service.url, dataDir, env, args, perSecond })
  const { added } = JSON.parse(beside.output) as { added: number }
  if (added !== large) throw new Error(`${added} signups were imported instead of ${large}.`)
  return beside
}

/** A file as our export writes it, with an address of its own in each row. */
async function writeList(path: string, rows: number): Promise<void> {
  await using file = await open(path, 'w')
  await file.write('Email,Timestamp,Source,Name,Tags,Metadata,Sheet Tab\r\n')
  const rest =
    '2025-11-20T10:00:00.000Z,landing-page,Ada Lovelace,"launch, beta",' +
    '"{""plan"":""free"",""utm_source"":""newsletter""}",Sheet1\r\n'
  for (let made = 0; made < rows; made += 1_000) {
    const length = Math.min(1_000, rows - made)
    const lines = Array.from({ length }, (_, at) => `person${made + at}@example.com,${rest}`)
    await file.write(lines.join(''))
  }
}

/** Imports a large file while the service takes signups and delivers. */
export const importScenarios: readonly Scenario[] = besideScenarios(measure, [
  besideLine('import-time', 'import of 1,000,000 rows under load', 's', 180, 60, 'seconds'),
  besideLine('import-memory', 'its memory (peak RSS)', 'MB', 200, 190, 'megabytes'),
  besideLine('import-p99', 'p99 of signups meanwhile', 'ms', 50, 20, 'p99'),
  besideLine('import-work', 'its longest work with the write lock', 'ms', 5, 4, (beside) =>
    Math.max(...beside.holds.workMs),
  ),
  besideLine('import-commit', 'its commits: p99', 'ms', 5, 2, (beside) =>
    percentile(beside.holds.commitMs, 0.99),
  ),
])
