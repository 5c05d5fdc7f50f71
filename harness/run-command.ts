import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { endWithUs } from './end-with-us.ts'
import { environmentOfAnyProgram } from './environment.ts'
import { patienceMs } from './patience.ts'
import { personalLines, personalWords } from './personal-data.ts'
import { projectRoot } from './source-file.ts'
import { tempFolder } from './temp-folder.ts'

export interface CommandOptions {
  /** The working folder, where a file `.env` is read. By default it is new and empty, and removed at the end. */
  readonly folder?: string
  /** Settings. The environment variables of this machine do not count. */
  readonly env?: Readonly<Record<string, string>>
  readonly dataDir?: string
  /** What the command reads from standard input; nothing by default. */
  readonly input?: string | Uint8Array
  /** A command that runs Node.js, such as `strace` with its options. */
  readonly under?: readonly string[]
}

/** What a command printed, and how it ended. */
export interface CommandResult {
  /** Null when a signal ended the process. */
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface StartedCommand {
  readonly pid: number
  /** What it has printed so far. */
  stdout(): string
  stderr(): string
  /** Sends a signal. */
  kill(signal: NodeJS.Signals): void
  /** Closes our end of its standard output, as `| head` does. */
  closeOutput(): void
  /**
   * Resolves when the process has ended by itself. Rejects when it hangs, or when it has printed anything
   * personal or secret on standard error.
   */
  readonly ended: Promise<CommandResult>
}

/**
 * Runs `rollcall ARGS` to its end, in this process: that takes a tenth of the time of one of its own. Tests of
 * what only a process has, such as signals, need `startCommand`.
 */
export async function runCommand(
  args: readonly string[],
  options: Omit<CommandOptions, 'under'> = {},
): Promise<CommandResult> {
  const { folder, env, dataDir, input = '' } = options
  // Only a process that starts reads this.
  if (env?.['NODE_EXTRA_CA_CERTS'] !== undefined) return startCommand(args, options).ended
  // What a run needs is loaded by the first one only.
  const { runProgram } = await import('../src/cli/program.ts')
  await using own = folder === undefined ? await tempFolder() : undefined
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  const printed = Promise.all([text(stdout), text(stderr)])
  const surroundings = {
    ...{ stdin: Readable.from([input].filter((it) => it.length > 0)), stdout, stderr },
    env: {
      ...environmentOfAnyProgram(),
      ...(own && { ROLLCALL_FOLDER: own.path }),
      ...env,
      ...(dataDir !== undefined && { DATA_DIR: dataDir }),
    },
  }
  const [path, umask] = [process.cwd(), process.umask(0o077)]
  // One at a time: the names of files that a command gets are of this folder.
  if (folder !== undefined) process.chdir(folder)
  const code = await runProgram(args, surroundings, new AbortController().signal).finally(() => {
    if (folder !== undefined) process.chdir(path)
    process.umask(umask)
    stdout.end()
    stderr.end()
  })
  const [out, errors] = await printed
  expectNothingPersonal(args, errors, env)
  return { code, stdout: out, stderr: errors }
}

/** Starts `rollcall ARGS` as a process of its own. */
export function startCommand(
  args: readonly string[],
  { folder, env, dataDir, input = '', under = [] }: CommandOptions = {},
): StartedCommand {
  const cwd = folder ?? mkdtempSync(join(tmpdir(), 'rollcall-'))
  const program = [...under, process.execPath, join(projectRoot, 'src/start.js'), ...args]
  const [first = '', ...rest] = program
  const child = spawn(first, rest, {
    cwd,
    stdio: 'pipe',
    // A process that hangs is killed.
    signal: AbortSignal.timeout(patienceMs),
    killSignal: 'SIGKILL',
    env: {
      ...environmentOfAnyProgram(),
      ...env,
      ...(dataDir !== undefined && { DATA_DIR: dataDir }),
    },
  })
  endWithUs(child)
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  // The command may end before it has read everything.
  child.stdin.on('error', () => {}).end(input)
  const closed = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => {
      if (folder === undefined) rmSync(cwd, { recursive: true, force: true })
      resolve(code)
    })
  })
  const ended = closed.then((code): CommandResult => {
    expectNothingPersonal(args, stderr, env)
    return { code, stdout, stderr }
  })
  return {
    pid: child.pid ?? 0,
    stdout: () => stdout,
    stderr: () => stderr,
    kill: (signal) => child.kill(signal),
    closeOutput: () => child.stdout.destroy(),
    ended,
  }
}

/** @throws Error when a command has printed anything personal or secret on standard error */
function expectNothingPersonal(
  [name = '']: readonly string[],
  stderr: string,
  env: CommandOptions['env'],
): void {
  const leaks = [...personalWords(stderr), ...personalLines(stderr, env)]
  if (leaks.length > 0) {
    throw new Error(`rollcall ${name} has printed on standard error: ${leaks.join()}`)
  }
}
