import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { endWithUs } from './end-with-us.ts'
import { environmentOfAnyProgram } from './environment.ts'
import { patienceMs } from './patience.ts'
import { personalLines, personalWords } from './personal-data.ts'
import { projectRoot } from './source-file.ts'

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

/** Runs `rollcall ARGS` as a process of its own, to its end. */
export function runCommand(
  args: readonly string[],
  options: CommandOptions = {},
): Promise<CommandResult> {
  return startCommand(args, options).ended
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
  const ended = new Promise<CommandResult>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => {
      if (folder === undefined) rmSync(cwd, { recursive: true, force: true })
      const leaks = [...personalWords(stderr), ...personalLines(stderr, env)]
      if (leaks.length === 0) resolve({ code, stdout, stderr })
      else
        reject(
          new Error(`rollcall ${args[0] ?? ''} has printed on standard error: ${leaks.join()}`),
        )
    })
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
