import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readExchanges, type Recorded, Recording } from './record.ts'
import type { Transport } from './transport.ts'
import { surround, type World, worlds } from './worlds.ts'

interface Opened {
  readonly transport: Transport
  readonly url: string
}

/** A way in which requests reach the application. */
export interface Adapter {
  /** Starts a service with these settings, which ends with `until`. */
  open(env: World['env'], until: AsyncDisposableStack): Promise<Opened>
  /** Whether any bytes can be sent, also those that no web `Request` can stand for. */
  readonly sendsBytes: boolean
}

/**
 * Declares a test of each recorded exchange. Answers depend on earlier requests, so a test that runs
 * without the tests before it asks what they ask.
 */
export function holdToRecords({ open, sendsBytes }: Adapter): void {
  describe.each(worlds)('a service that is $name', (world: World) => {
    const all = readExchanges(world.name)
    const exchanges = all.filter(({ asked }) => sendsBytes || !('bytes' in asked))
    const opened = new AsyncDisposableStack()
    let service: Opened
    let recording: Recording
    beforeAll(async () => {
      const { env, standIns, kept } = opened.use(await surround(world))
      service = await open(env, opened)
      recording = new Recording(service.transport, standIns, kept)
    })
    afterAll(() => opened.disposeAsync())

    let askedBefore = 0
    test.each(exchanges)('answers as recorded: $asked.what', async (exchange) => {
      let answer: Recorded | undefined
      for (const { asked } of exchanges.slice(askedBefore, exchanges.indexOf(exchange) + 1)) {
        answer = await recording.ask(asked, service.url)
        askedBefore++
      }
      expect(answer).toEqual(exchange.answer)
    })

    test('every name is used once', () => {
      expect(new Set(all.map(({ asked }) => asked.what)).size).toBe(all.length)
    })
  })
}
