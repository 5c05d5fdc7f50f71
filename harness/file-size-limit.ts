import { execFileSync } from 'node:child_process'

/**
 * Makes writes of a process fail beyond this place in a file, as on a disk that is full. It works on Linux
 * and needs no special rights, so that a machine of CI can do it, too.
 */
export function limitFileSize(pid: number, bytes: number | 'unlimited'): void {
  execFileSync('prlimit', [`--pid=${pid}`, `--fsize=${bytes}:`], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
}

/** For `startService`: a process that can make small files and no large ones. */
export const underSmallLimit: readonly string[] = ['prlimit', '--fsize=4096:']
