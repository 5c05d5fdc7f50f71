import { join } from 'node:path'
import type { PostgresServer } from '../../harness/postgres-server.ts'
import { deliver } from '../deliver-backlog.ts'
import { type Load, requestsPerSecond, usualBody } from '../load.ts'
import { cpuMicroseconds, peakBytes, startMeasured } from '../processes.ts'
import { googleSettings, World } from '../world.ts'
import type { Tree } from './tree.ts'

/** What one life of the service has cost: it starts, takes signups, ends, and its signups are delivered. */
export interface Life {
  /** From the start of the process until it listens. */
  readonly startMs: number
  /** Its memory (RSS) when it listens. */
  readonly startMegabytes: number
  readonly peakMegabytes: number
  /** In microseconds, without that of a database. */
  readonly cpuPerSignup: number
  /** Of a signup with an `Idempotency-Key`. */
  readonly cpuPerKeyedSignup: number
  /** Of a signup in a bulk request. */
  readonly cpuPerBulkSignup: number
  readonly cpuPerRow: number
}

const bulkItems = 1_000
const bulkBody = `{"signups":[${Array(bulkItems).fill(usualBody).join(',')}]}`

/**
 * Measures one life of the service of a tree, with the tree's own program for the delivery. Its journal is in a
 * new database of this server, or else in a folder.
 */
export async function live(
  { path }: Tree,
  seconds: number,
  server?: PostgresServer,
): Promise<Life> {
  await using world = await World.create()
  await using database = await server?.createDatabase()
  const dataDir = world.path('data')
  const place = database ? { DATABASE_URL: database.url } : { DATA_DIR: dataDir }
  const provider = await world.provider({ isDown: true })
  const began = performance.now()
  await using service = await startMeasured({
    program: join(path, 'src/start.js'),
    env: { LOG_LEVEL: 'error', ...googleSettings(provider.url), ...place },
    dataDir,
  })
  const startMs = performance.now() - began
  const startMegabytes = peakBytes(service.pid) / 1e6

  const { folder } = world
  const url = `${service.url}/api/signup`
  const load: Omit<Load, 'seconds'> = { url, connections: 64, body: usualBody, folder }
  await requestsPerSecond({ ...load, seconds: 1 })
  const cpuPerRequest = async (measured: typeof load) => {
    const before = cpuMicroseconds(service.pid)
    const perSecond = await requestsPerSecond({ ...measured, seconds })
    return (cpuMicroseconds(service.pid) - before) / (perSecond * seconds)
  }
  const cpuPerSignup = await cpuPerRequest(load)
  const cpuPerKeyedSignup = await cpuPerRequest({ ...load, isKeyed: true })
  const peakMegabytes = peakBytes(service.pid) / 1e6
  const bulk = { url: `${load.url}/bulk`, connections: 4, body: bulkBody, folder }
  const cpuPerBulkSignup = (await cpuPerRequest(bulk)) / bulkItems
  await service.stop()

  const delivered = await deliver(world, place, path)
  const cpuPerRow = delivered.cpuMicroseconds / delivered.rows
  const cpuPer = { cpuPerSignup, cpuPerKeyedSignup, cpuPerBulkSignup, cpuPerRow }
  return { startMs, startMegabytes, peakMegabytes, ...cpuPer }
}
