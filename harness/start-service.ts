import { spawn } from 'node:child_process'
import type { ChildProcessByStdio } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { endWithUs } from './end-with-us.ts'
import { environmentOfAnyProgram } from './environment.ts'
import { patienceMs } from './patience.ts'
import { personalLines } from './personal-data.ts'
import { projectRoot } from './source-file.ts'

export interface StartOptions {
  /** Settings of the service, besides HOST, PORT and DATA_DIR. */
  readonly env?: Readonly<Record<string, string>>
  /** The data folder, which is kept. By default it is `data` in the working folder, which is removed. */
  readonly dataDir?: string
  /** The program to start instead of the service. */
  readonly program?: string
  /** A command that runs Node.js, such as `strace` with its options. It has to keep the process id. */
  readonly under?: readonly string[]
}

export interface RunningService extends AsyncDisposable {
  /** Without a slash at the end. */
  readonly url: string
  readonly pid: number
  /** Its working folder, which is removed when it ends. */
  readonly folder: string
  /** Everything that it has printed so far, on both streams. */
  output(): string
  /**
   * Sends SIGTERM. Resolves with the exit code, or null when a signal ended the process. Rejects when it
   * hangs or has printed anything personal or secret.
   */
  stop(): Promise<number | null>
  /** Sends SIGKILL. Resolves when the process has ended. */
  kill(): Promise<void>
  /** Resolves with the exit code when the process ends for any reason. */
  readonly exited: Promise<number | null>
}

/** The service ended before it listened. */
export class ServiceEnded extends Error {
  override readonly name = 'ServiceEnded'
  readonly code: number | null
  readonly output: string

  constructor(code: number | null, output: string) {
    super(`The service ended with code ${String(code)} before it listened:\n${output}`)
    this.code = code
    this.output = output
  }
}

/**
 * Starts the real service as a process, on a free port of 127.0.0.1, without the environment variables
 * and the `.env` file of this machine.
 *
 * @throws ServiceEnded when it ends before it listens
 */
export async function startService(options: StartOptions = {}): Promise<RunningService> {
  const folder = await mkdtemp(join(tmpdir(), 'rollcall-test-'))
  const program = options.program ?? join(projectRoot, 'src/start.js')
  const [command, ...parameters] = [...(options.under ?? []), process.execPath, program]
  const child = spawn(command, parameters, {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...environmentOfAnyProgram(),
      ...options.env,
      HOST: '127.0.0.1',
      PORT: '0',
      DATA_DIR: options.dataDir ?? join(folder, 'data'),
    },
  })
  endWithUs(child)
  const exited = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject).once('close', resolve)
  })
  const { output, url } = capture(child)

  const end = async (signal: NodeJS.Signals): Promise<number | null> => {
    child.kill(signal)
    try {
      const code = await within(exited, () => `to end after ${signal}:\n${output()}`)
      const leaks = personalLines(output(), options.env)
      if (leaks.length > 0)
        throw new Error(
          `The service has printed something personal or secret:\n${leaks.join('\n')}`,
        )
      return code
    } finally {
      child.kill('SIGKILL')
      await exited.catch(() => null)
      await rm(folder, { recursive: true, force: true })
    }
  }

  const ended = exited.then((code) => Promise.reject(new ServiceEnded(code, output())))
  try {
    const started = Promise.race([url, ended])
    return {
      url: await within(started, () => `to listen:\n${output()}`),
      pid: child.pid ?? 0,
      folder,
      output,
      exited,
      stop: () => end('SIGTERM'),
      kill: async () => {
        await end('SIGKILL')
      },
      [Symbol.asyncDispose]: async () => {
        await end('SIGTERM')
      },
    }
  } catch (error) {
    await end('SIGKILL')
    throw error
  }
}

/**
 * Starts the service with settings that it refuses. Resolves with how it ended.
 *
 * @throws Error when it listens. Then it is stopped.
 */
export async function failedStart(options: StartOptions): Promise<ServiceEnded> {
  try {
    await using service = await startService(options)
    throw new Error(`The service should not have started:\n${service.output()}`)
  } catch (error) {
    if (error instanceof ServiceEnded) return error
    throw error
  }
}

/** Collects the output of the service, and waits for the line with its address. */
function capture(child: ChildProcessByStdio<null, Readable, Readable>) {
  let output = ''
  const url = new Promise<string>((resolve) => {
    const take = (text: string) => {
      output += text
      const found = /Rollcall listens on (http:\/\/[^\s/]+)\/?\s/.exec(output)?.[1]
      if (found !== undefined) resolve(found)
    }
    child.stdout.setEncoding('utf8').on('data', take)
    child.stderr.setEncoding('utf8').on('data', take)
  })
  return { output: () => output, url }
}

async function within<T>(promise: Promise<T>, what: () => string): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => {
    reject(new Error(`The service took over ${patienceMs} ms ${what()}`))
  }, patienceMs)
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}
