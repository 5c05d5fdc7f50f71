import { execFileSync } from 'node:child_process'
import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { arch, cpus, platform, release } from 'node:os'
import { tempFolder } from '../harness/temp-folder.ts'
import { loadGenerator, requestsPerSecond, usualBody } from './load.ts'
import { median } from './scenario.ts'
import { World } from './world.ts'

/** The commit, machine, system and disk that the figures depend on, one line each. */
export async function describeMachine(): Promise<readonly string[]> {
  const cores = cpus().length
  const pinning = hasTaskset()
    ? 'the service on core 0, load and provider on the others'
    : 'nothing pinned, as there is no taskset: expect more spread'
  return [
    `${new Date().toISOString().slice(0, 16)}Z, commit ${commit()}`,
    `${cpus()[0]?.model ?? 'unknown CPU'}, ${cores} cores (${arch()}), ${pinning}`,
    `${platform()} ${release()}, Node.js ${process.version}`,
    await describeDisk(),
  ]
}

/** How many requests the load generator makes against bare `node:http`. Rates near this are not those of the service. */
export async function loadCeiling(seconds: number): Promise<string> {
  await using world = await World.create()
  const bare = await world.baseline('none')
  const load = { url: bare.url, seconds, body: usualBody, folder: world.folder }
  await requestsPerSecond({ ...load, connections: 64 })
  const few = await requestsPerSecond({ ...load, connections: 64 })
  const many = await requestsPerSecond({ ...load, connections: 256 })
  return (
    `${loadGenerator} against bare node:http: ${Math.round(few)} requests/s with 64 connections, ` +
    `${Math.round(many)} with 256`
  )
}

async function describeDisk(): Promise<string> {
  await using folder = await tempFolder()
  const { type } = await statfs(folder.path)
  const file = openSync(`${folder.path}/synced`, 'w')
  const page = Buffer.alloc(4096)
  const times = Array.from({ length: 200 }, () => {
    writeSync(file, page)
    const begin = performance.now()
    fdatasyncSync(file)
    return performance.now() - begin
  })
  closeSync(file)
  const kinds: Record<number, string> = { 0xef53: 'ext', 0x58465342: 'xfs', 0x01021994: 'tmpfs' }
  const kind = kinds[type] ?? `0x${type.toString(16)}`
  const slowest = Math.max(...times).toFixed(2)
  return `file system ${kind}, fdatasync ${median(times).toFixed(2)} ms (slowest ${slowest})`
}

function commit(): string {
  try {
    const git = (...args: string[]) => execFileSync('git', args, { encoding: 'utf8' }).trim()
    const changed = git('status', '--porcelain', '--', 'src') === '' ? '' : ' with changes'
    return git('rev-parse', '--short', 'HEAD') + changed
  } catch {
    return 'unknown'
  }
}

function hasTaskset(): boolean {
  try {
    execFileSync('taskset', ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
