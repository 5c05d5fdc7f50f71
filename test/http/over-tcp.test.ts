import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bootService } from '../../harness/boot-service.ts'
import { readExchanges, type Recorded, Recording } from './record.ts'
import { surround, worlds } from './worlds.ts'

/** Answers depend on earlier requests, so a test that runs without the tests before it asks what they ask. */
describe.each(worlds)('a service that is $name', (world) => {
  const exchanges = readExchanges(world.name)
  const opened = new AsyncDisposableStack()
  let recording: Recording
  beforeAll(async () => {
    const { env, standIns, kept } = opened.use(await surround(world))
    const { url } = opened.use(await bootService({ env }))
    recording = new Recording(url, standIns, kept)
  })
  afterAll(() => opened.disposeAsync())

  let askedBefore = 0
  test.each(exchanges)('answers as recorded: $asked.what', async (exchange) => {
    let answer: Recorded | undefined
    for (const { asked } of exchanges.slice(askedBefore, exchanges.indexOf(exchange) + 1)) {
      answer = await recording.ask(asked)
      askedBefore++
    }
    expect(answer).toEqual(exchange.answer)
  })

  test('every name is used once', () => {
    expect(new Set(exchanges.map(({ asked }) => asked.what)).size).toBe(exchanges.length)
  })
})
