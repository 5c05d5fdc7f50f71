import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bootService } from '../../harness/boot-service.ts'
import { startService } from '../../harness/start-service.ts'
import type { Asked, AskedWorld } from './asked.ts'
import { askRaw, decode, readDocument, readRecord, Recording, type WorldRecord } from './record.ts'
import { worlds } from './requests.ts'
import { byFetch, overTcp, type Transport } from './transport.ts'
import { surround } from './worlds.ts'

interface Opened {
  readonly transport: Transport
  readonly url: string
}

/** Every way in which requests reach the application. */
const adapters = [
  {
    adapter: 'over TCP, from a process',
    async open(env: AskedWorld['env'], until: AsyncDisposableStack): Promise<Opened> {
      const service = until.adopt(await startService({ env }), (it) => it.kill())
      return { transport: overTcp(service.url), url: service.url }
    },
  },
  {
    adapter: 'by fetch, in this process',
    async open(env: AskedWorld['env'], until: AsyncDisposableStack): Promise<Opened> {
      const service = until.use(await bootService({ env }))
      return { transport: byFetch(service.application), url: service.url }
    },
  },
]

describe.each(worlds)('a service that is $name', (world: AskedWorld) => {
  let record: WorldRecord
  beforeAll(async () => {
    record = await readRecord(world)
  })

  describe.each(adapters)('asked $adapter', ({ adapter, open }) => {
    const opened = new AsyncDisposableStack()
    let service: Opened
    let recording: Recording
    beforeAll(async () => {
      const { env, standIns, kept } = opened.use(await surround(world))
      service = await open(env, opened)
      recording = new Recording(service.transport, standIns, kept)
    })
    afterAll(() => opened.disposeAsync())

    test.each(world.requests)('answers as recorded: $what', async (asked) => {
      expect(await recording.ask(asked)).toEqual(record[asked.what])
    })

    // A web `Request` cannot stand for these bytes.
    const raw = adapter.includes('TCP') ? (world.raw ?? []) : []
    test.each(raw)('answers bytes on a connection as recorded: $what', async ({ what, bytes }) => {
      expect(await askRaw(service.url, bytes)).toEqual(record[what])
    })

    test.each(world.requests.filter(isDocument))(
      'serves the recorded OpenAPI document',
      async () => {
        const headers = { host: 'localhost' }
        const path = '/api/openapi.json'
        const answer = await service.transport({ method: 'GET', path, headers, body: undefined })
        const document = JSON.stringify(JSON.parse(decode(answer.body)), null, 2)
        expect(`${document}\n`).toBe(await readDocument(world))
      },
    )
  })

  test('every recorded answer belongs to a request, and every name is used once', () => {
    const names = [...world.requests, ...(world.raw ?? [])].map(({ what }) => what)
    expect(Object.keys(record)).toEqual(names)
    expect(new Set(names).size).toBe(names.length)
  })
})

function isDocument({ what }: Asked): boolean {
  return what === 'openapi'
}
