import { execFileSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface TempFolder extends AsyncDisposable {
  readonly path: string
}

/** A new folder for one test. Disposing of it removes it with its content. */
export async function tempFolder(): Promise<TempFolder> {
  const path = await mkdtemp(join(tmpdir(), 'rollcall-'))
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) }
}

/** Makes a named pipe. Whoever opens it without care waits for ever. Returns the path. */
export function makePipe(path: string): string {
  execFileSync('mkfifo', [path])
  return path
}
