import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type RunningService, startService } from '../../harness/start-service.ts'
import type { Asked, AskedWorld } from './asked.ts'
import { askRaw, decode, readDocument, readRecord, Recording, type WorldRecord } from './record.ts'
import { worlds } from './requests.ts'
import { overTcp } from './transport.ts'
import { surround } from './worlds.ts'

describe.each(worlds)('a service that is $name', (world: AskedWorld) => {
  const opened = new AsyncDisposableStack()
  let service: RunningService
  let recording: Recording
  let record: WorldRecord
  beforeAll(async () => {
    record = await readRecord(world)
    const { env, standIns, kept } = opened.use(await surround(world))
    service = opened.use(await startService({ env }))
    recording = new Recording(overTcp(service.url), standIns, kept)
  })
  afterAll(() => opened.disposeAsync())

  test.each(world.requests)('answers as recorded over TCP: $what', async (asked) => {
    expect(await recording.ask(asked)).toEqual(record[asked.what])
  })

  test.each(world.raw ?? [])('answers as recorded what is no request: $what', async (asked) => {
    expect(await askRaw(service.url, asked.bytes)).toEqual(record[asked.what])
  })

  test.each(world.requests.filter(isDocument))('describes itself as recorded', async () => {
    const answer = await overTcp(service.url)({
      method: 'GET',
      path: '/api/openapi.json',
      headers: { host: 'localhost' },
      body: undefined,
    })
    const document = JSON.stringify(JSON.parse(decode(answer.body)), null, 2)
    expect(`${document}\n`).toBe(await readDocument(world))
  })

  test('every recorded answer is asked for, and every name is used once', () => {
    const names = [...world.requests, ...(world.raw ?? [])].map(({ what }) => what)
    expect(Object.keys(record)).toEqual(names)
    expect(new Set(names).size).toBe(names.length)
  })
})

function isDocument({ what }: Asked): boolean {
  return what === 'openapi'
}
