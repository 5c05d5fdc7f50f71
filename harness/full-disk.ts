import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { mkdir, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A small disk of its own that can be filled up. */
export interface SmallDisk extends AsyncDisposable {
  /** Takes all space that is left. */
  fill(): Promise<void>
  makeRoom(): Promise<void>
}

/** Why this machine cannot have a small disk, or undefined when it can. Mounting takes root on Linux. */
export const noSmallDisk = ((): string | undefined => {
  const path = mkdtempSync(join(tmpdir(), 'rollcall-mount-'))
  try {
    mountTmpfs(path, 1)
    unmount(path)
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message.trim() : String(error)
  } finally {
    rmSync(path, { recursive: true })
  }
})()

/** Puts a disk of 2 MB at this path, in memory. */
export async function mountSmallDisk(path: string): Promise<SmallDisk> {
  await mkdir(path, { recursive: true })
  mountTmpfs(path, 2)
  const ballast = join(path, 'ballast')
  return {
    async fill() {
      await using file = await open(ballast, 'a')
      for (let size = 65_536; size >= 1;) {
        try {
          await file.write(Buffer.alloc(size))
        } catch {
          size /= 2
        }
      }
    },
    makeRoom: () => rm(ballast),
    async [Symbol.asyncDispose]() {
      unmount(path)
    },
  }
}

/** Why no limit can be put on the files of a running process, or undefined when one can. */
export const noFileSizeLimit = ((): string | undefined => {
  try {
    limitFileSize(process.pid, 'unlimited')
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message.trim() : String(error)
  }
})()

/** Writes of the process beyond this place in a file fail from now on. Needs no rights beyond ours. */
export function limitFileSize(pid: number, bytes: number | 'unlimited'): void {
  run('prlimit', [`--pid=${pid}`, `--fsize=${bytes}:`])
}

function mountTmpfs(path: string, megabytes: number): void {
  run('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'rollcall-test', path])
  writeFileSync(join(path, '.probe'), '')
  rmSync(join(path, '.probe'))
}

/** Lazily, so that a file that is still open cannot keep it. */
function unmount(path: string): void {
  run('umount', ['-l', path])
}

function run(command: string, parameters: readonly string[]): void {
  execFileSync(command, parameters, { stdio: ['ignore', 'ignore', 'pipe'] })
}
