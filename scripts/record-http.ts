/**
 * Records the answers of `test/http/exchanges/` anew:
 *
 *     node scripts/record-http.ts [START_JS]
 *
 * START_JS is the `src/start.js` of another checkout to record from. A new request needs two lines: itself,
 * and `{}` for its answer. Clients see every change of an answer, so read each line of the diff.
 */
import { startService } from '../harness/start-service.ts'
import { type Exchanged, readExchanges, Recording, writeExchanges } from '../test/http/record.ts'
import { surround, type World, worlds } from '../test/http/worlds.ts'

const [, , program] = process.argv
for (const world of worlds) await record(world)

async function record(world: World): Promise<void> {
  await using around = await surround(world)
  const { env, standIns, kept } = around
  await using service = await startService({ env, ...(program !== undefined && { program }) })
  const recording = new Recording(service.url, standIns, kept)
  const exchanges: Exchanged[] = []
  for (const { asked } of readExchanges(world.name)) {
    exchanges.push({ asked, answer: await recording.ask(asked) })
  }
  writeExchanges(world.name, exchanges)
}
