/**
 * Records the answers that `test/http/surface.ts` compares with:
 *
 *     node scripts/record-http.ts [START_JS]
 *
 * START_JS is the `src/start.js` of another checkout to record from. Clients see every change of the
 * record, so read each line of its diff.
 */
import { startService } from '../harness/start-service.ts'
import type { AskedWorld } from '../test/http/asked.ts'
import { askRaw, type Recorded, Recording, writeRecord } from '../test/http/record.ts'
import { worlds } from '../test/http/requests.ts'
import { overTcp } from '../test/http/transport.ts'
import { surround } from '../test/http/worlds.ts'

const [, , program] = process.argv
for (const world of worlds) await record(world)

async function record(world: AskedWorld): Promise<void> {
  await using around = await surround(world)
  const { env, standIns, kept } = around
  await using service = await startService({ env, ...(program !== undefined && { program }) })
  const recording = new Recording(overTcp(service.url), standIns, kept)
  const answers: Record<string, Recorded> = {}
  for (const asked of world.requests) answers[asked.what] = await recording.ask(asked)
  for (const { what, bytes } of world.raw ?? []) answers[what] = await askRaw(service.url, bytes)
  await writeRecord(world, answers)
}
