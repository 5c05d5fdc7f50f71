import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect } from 'vitest'
import { environmentOfAnyProgram } from '../../harness/environment.ts'
import { startCommand } from '../../harness/run-command.ts'
import { projectRoot } from '../../harness/source-file.ts'

export interface StartedByStep extends AsyncDisposable {
  readonly url: string
  output(): string
}

/** Starts the service as `npm start` does in this folder, with its file `.env`. */
export async function startIn(
  folder: string,
  env: Readonly<Record<string, string>>,
): Promise<StartedByStep> {
  const command = startCommand(['serve'], { folder, env: { ...env, PORT: '0' } })
  const url = () => /http:\/\/localhost:\d+/.exec(command.stdout())?.[0]
  await expect.poll(url).toBeDefined()
  return {
    url: url() ?? '',
    output: () => command.stdout(),
    async [Symbol.asyncDispose]() {
      command.kill('SIGTERM')
      await command.ended
    },
  }
}

/** Runs the commands of a step in this folder. Rejects when one fails. */
export async function runStep(
  step: string,
  folder: string,
  env: Readonly<Record<string, string>>,
): Promise<void> {
  const script = step.replaceAll(
    'npm run -s rollcall --',
    `${process.execPath} ${projectRoot}/src/start.js`,
  )
  const all = { ...environmentOfAnyProgram(), ...env }
  await promisify(execFile)('sh', ['-ec', script], { cwd: folder, env: all })
}
