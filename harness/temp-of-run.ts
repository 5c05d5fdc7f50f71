import { chmod, mkdtemp, readdir, rm, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'

const prefix = 'rollcall-run-'
/** A folder in memory, where Linux has one. Thousands of small journals there wait for no disk. */
const memory = '/dev/shm'
const roomMin = 4 * 1024 ** 3

/**
 * Gives all tests of one run a temporary folder together. A run that was killed leaves its folder: the
 * next run removes it.
 */
export async function setup(): Promise<(() => Promise<void>) | undefined> {
  // Each project of one run comes here.
  if (isFolderOfRun(tmpdir())) return undefined
  const all = (await hasRoom(memory)) ? memory : tmpdir()
  for (const name of await readdir(all)) {
    const pid = Number(/^rollcall-run-(\d+)-/.exec(name)?.[1] ?? 0)
    if (pid > 0 && !isRunning(pid)) await rm(join(all, name), { recursive: true, force: true })
  }
  const folder = await mkdtemp(join(all, `${prefix}${process.pid}-`))
  // Some tests start a service as another user, who has to get to its folder.
  await chmod(folder, 0o711)
  process.env['TMPDIR'] = folder
  return () => rm(folder, { recursive: true, force: true })
}

async function hasRoom(path: string): Promise<boolean> {
  const { bavail, bsize } = await statfs(path).catch(() => ({ bavail: 0, bsize: 0 }))
  return bavail * bsize >= roomMin
}

/** Whether this is the temporary folder of a run of tests, which the run removes at its end. */
export function isFolderOfRun(path: string): boolean {
  return basename(path).startsWith(prefix)
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH')
  }
}
