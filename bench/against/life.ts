import { join } from 'node:path'
import { deliver } from '../deliver-backlog.ts'
import { requestsPerSecond, usualBody } from '../load.ts'
import { cpuMicroseconds, peakBytes, startMeasured } from '../processes.ts'
import { googleSettings, type World } from '../world.ts'
import type { Tree } from './tree.ts'

/** What one life of the service has cost: it starts, takes signups, ends, and its signups are delivered. */
export interface Life {
  /** From the start of the process until it listens. */
  readonly startMs: number
  /** Its memory (RSS) when it listens. */
  readonly startMegabytes: number
  readonly peakMegabytes: number
  readonly cpuPerSignup: number
  readonly cpuPerRow: number
}

/** Measures one life of the service of a tree, with its own program for the delivery. */
export async function live(world: World, tree: Tree, seconds: number): Promise<Life> {
  const provider = await world.provider({ isDown: true })
  const dataDir = world.path(`data-${provider.pid}`)
  const began = performance.now()
  const service = await startMeasured({
    program: join(tree.path, 'src/start.js'),
    env: { LOG_LEVEL: 'error', ...googleSettings(provider.url) },
    dataDir,
  })
  const startMs = performance.now() - began
  const startMegabytes = peakBytes(service.pid) / 1e6
  try {
    const load = { url: `${service.url}/api/signup`, connections: 64, body: usualBody }
    const folder = world.folder
    await requestsPerSecond({ ...load, folder, seconds: 1 })
    const before = cpuMicroseconds(service.pid)
    const perSecond = await requestsPerSecond({ ...load, folder, seconds })
    const cpuPerSignup = (cpuMicroseconds(service.pid) - before) / (perSecond * seconds)
    const peakMegabytes = peakBytes(service.pid) / 1e6
    await service.stop()
    const delivered = await deliver(world, { DATA_DIR: dataDir }, tree.path)
    const cpuPerRow = delivered.cpuMicroseconds / delivered.rows
    return { startMs, startMegabytes, peakMegabytes, cpuPerSignup, cpuPerRow }
  } catch (error) {
    await service.kill()
    throw error
  }
}
