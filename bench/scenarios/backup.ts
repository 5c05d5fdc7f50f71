import { type Beside, besideCommand } from '../beside-command.ts'
import { fillJournal } from '../journals.ts'
import type { Scenario, Sizes } from '../scenario.ts'
import { googleSettings, World } from '../world.ts'
import { besideLine, besideScenarios, perSecond } from './beside.ts'

async function measure({ large }: Sizes): Promise<Beside> {
  await using world = await World.create()
  const provider = await world.provider({ delayMs: 350 })
  const dataDir = await fillJournal(world.path('data'), large, 'written')
  const service = await world.service(provider, { dataDir })
  const args = ['backup', world.path('backup.db'), '--json']
  const env = googleSettings(provider.url)
  const beside = await besideCommand({ url: service.url, dataDir, env, args, perSecond })
  const { signups } = JSON.parse(beside.output) as { signups: number }
  if (signups < large) throw new Error(`The backup has ${signups} signups instead of ${large}.`)
  return beside
}

/** Copies a large journal while the service takes signups and delivers. */
export const backupScenarios: readonly Scenario[] = besideScenarios(measure, [
  besideLine('backup-time', 'backup of 1,000,000 signups under load', 's', 30, 10, 'seconds'),
  besideLine('backup-memory', 'its memory (peak RSS)', 'MB', 200, 150, 'megabytes'),
  besideLine('backup-p99', 'p99 of signups meanwhile', 'ms', 50, 20, 'p99'),
])
