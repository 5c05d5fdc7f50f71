import { execFile } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { projectRoot } from '../../harness/source-file.ts'

const run = promisify(execFile)

/** The files of one commit with all that `npm start` installs there. Disposing of it deletes them. */
export interface Tree extends AsyncDisposable {
  readonly path: string
  readonly commit: string
  /** The size of what `npm start` has installed, in megabytes of disk. */
  readonly installMegabytes: number
}

async function git(...args: string[]): Promise<string> {
  return (await run('git', args, { cwd: projectRoot })).stdout.trim()
}

/** The commit of the last release, by its title: a tag does not travel with every clone. */
export function lastRelease(): Promise<string> {
  return git('log', '-1', '--format=%H', '--grep=^Release [0-9.]*$')
}

/** @throws Error when Git does not know the commit, or its set-up fails */
export async function checkOut(name: string, path: string): Promise<Tree> {
  const commit = await git('rev-parse', '--verify', `${name}^{commit}`)
  await git('worktree', 'add', '--detach', path, commit)
  const remove = async () => {
    await rm(path, { recursive: true, force: true })
    await git('worktree', 'prune')
  }
  try {
    await run(process.execPath, [join(path, 'scripts/setup.js')], { cwd: path })
    // Without what Node caches of its code, which differs a little each time.
    const size = ['-s', '--block-size=1000', '--exclude=.cache', join(path, 'node_modules')]
    const { stdout } = await run('du', size)
    const installMegabytes = Number.parseInt(stdout, 10) / 1000
    return { path, commit, installMegabytes, [Symbol.asyncDispose]: remove }
  } catch (error) {
    await remove()
    throw error
  }
}
