import { type Beside, besideCommand } from '../beside-command.ts'
import { fillJournal } from '../journals.ts'
import type { Scenario, Sizes } from '../scenario.ts'
import { googleSettings, World } from '../world.ts'
import { besideLine, besideScenarios, perSecond } from './beside.ts'

/** Forgets the last person of a large journal, whose row is not written yet, as the provider is down. */
async function measure({ large }: Sizes): Promise<Beside> {
  await using world = await World.create()
  const provider = await world.provider({ isDown: true })
  const dataDir = await fillJournal(world.path('data'), large, 'waiting')
  const service = await world.service(provider, { dataDir })
  const args = ['forget', `person${large - 1}@example.com`, '--json']
  const env = googleSettings(provider.url)
  const beside = await besideCommand({ url: service.url, dataDir, env, args, perSecond })
  const { signups } = JSON.parse(beside.output) as { signups: { erased: number } }
  if (signups.erased !== 1) throw new Error(`${signups.erased} signups were erased instead of 1.`)
  return beside
}

/** Erases a person from a large journal while the service takes signups. */
export const forgetScenarios: readonly Scenario[] = besideScenarios(measure, [
  besideLine('forget-time', 'forget in 1,000,000 signups under load', 's', 30, 10, 'seconds'),
  besideLine('forget-p99', 'p99 of signups meanwhile', 'ms', 50, 20, 'p99'),
  besideLine('forget-work', 'its longest work with the write lock', 'ms', 5, 4, ({ holds }) =>
    Math.max(...holds.workMs),
  ),
  besideLine('forget-log', 'its longest try to empty the log', 'ms', 10, 5, ({ holds }) =>
    Math.max(...holds.emptyMs),
  ),
])
