import { setTimeout as sleep } from 'node:timers/promises'
import { usualBody } from '../load.ts'
import { atMost, type Scenario } from '../scenario.ts'
import { World } from '../world.ts'

const delayMs = 100
/** After this rest, the writer is idle again. */
const idleMs = 1_500

/** The time from the 202 of a single signup until the provider has its row. */
export const idleRowScenario: Scenario = {
  name: 'idle-row',
  what: `one signup when idle: from 202 to row, provider at ${delayMs} ms`,
  unit: 's',
  reach: atMost(1.5),
  aim: atMost(0.4),
  async run(sizes) {
    await using world = await World.create()
    const provider = await world.provider({ delayMs })
    const service = await world.service(provider)
    const rows = async () => {
      const answer = await fetch(`${provider.url}/rows`)
      return ((await answer.json()) as { rows: number }).rows
    }
    const values: number[] = []
    for (let round = 0; round < sizes.rounds; round++) {
      await sleep(idleMs)
      const had = await rows()
      const headers = { 'content-type': 'application/json' }
      await fetch(`${service.url}/api/signup`, { method: 'POST', headers, body: usualBody })
      const accepted = performance.now()
      while ((await rows()) === had) await sleep(2)
      values.push((performance.now() - accepted) / 1000)
    }
    return { values, note: 'the provider is asked every 2 ms' }
  },
}
