import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { mkdir, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A small disk that a test can fill up. */
export interface SmallDisk extends AsyncDisposable {
  /** Fills the rest of the disk. */
  fill(): Promise<void>
  makeRoom(): Promise<void>
}

/** The reason why this machine cannot mount a small disk; undefined when it can, as root on Linux. */
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

/** Mounts a disk of 2 MB in memory. */
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

/** The reason why this machine cannot limit the files of a running process; undefined when it can. */
export const noFileSizeLimit = ((): string | undefined => {
  try {
    limitFileSize(process.pid, 'unlimited')
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message.trim() : String(error)
  }
})()

/** Makes writes of a process beyond this place in a file fail. Needs no special rights. */
export function limitFileSize(pid: number, bytes: number | 'unlimited'): void {
  run('prlimit', [`--pid=${pid}`, `--fsize=${bytes}:`])
}

function mountTmpfs(path: string, megabytes: number): void {
  run('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'rollcall-test', path])
  writeFileSync(join(path, '.probe'), '')
  rmSync(join(path, '.probe'))
}

/** Unmounts lazily, because a file may still be open. */
function unmount(path: string): void {
  run('umount', ['-l', path])
}

function run(command: string, parameters: readonly string[]): void {
  execFileSync(command, parameters, { stdio: ['ignore', 'ignore', 'pipe'] })
}
