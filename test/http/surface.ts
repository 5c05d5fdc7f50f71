import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { AskedWorld } from './asked.ts'
import { askRaw, readRecord, Recording, type WorldRecord } from './record.ts'
import { worlds } from './requests.ts'
import type { Transport } from './transport.ts'
import { surround } from './worlds.ts'

interface Opened {
  readonly transport: Transport
  readonly url: string
}

/** A way in which requests reach the application. */
export interface Adapter {
  /** Starts a service with these settings, which ends with `until`. */
  open(env: AskedWorld['env'], until: AsyncDisposableStack): Promise<Opened>
  /** Whether any bytes can be sent, also those that no web `Request` can stand for. */
  readonly sendsBytes: boolean
}

/**
 * Declares a test of each recorded answer. Answers depend on earlier requests, so a test that runs
 * without the tests before it asks what they ask.
 */
export function holdToRecords({ open, sendsBytes }: Adapter): void {
  describe.each(worlds)('a service that is $name', (world: AskedWorld) => {
    const opened = new AsyncDisposableStack()
    let record: WorldRecord
    let service: Opened
    let recording: Recording
    beforeAll(async () => {
      record = await readRecord(world)
      const { env, standIns, kept } = opened.use(await surround(world))
      service = await open(env, opened)
      recording = new Recording(service.transport, standIns, kept)
    })
    afterAll(() => opened.disposeAsync())

    let askedBefore = 0
    test.each(world.requests)('answers as recorded: $what', async (asked) => {
      const place = world.requests.indexOf(asked)
      while (askedBefore < place) await askNext()
      expect(await askNext()).toEqual(record[asked.what])
    })

    async function askNext() {
      const asked = world.requests[askedBefore++]
      return asked && recording.ask(asked)
    }

    const raw = sendsBytes ? (world.raw ?? []) : []
    test.each(raw)('answers bytes on a connection as recorded: $what', async ({ what, bytes }) => {
      expect(await askRaw(service.url, bytes)).toEqual(record[what])
    })

    test('every recorded answer belongs to a request, and every name is used once', () => {
      const names = [...world.requests, ...(world.raw ?? [])].map(({ what }) => what)
      expect(Object.keys(record)).toEqual(names)
      expect(new Set(names).size).toBe(names.length)
    })
  })
}
