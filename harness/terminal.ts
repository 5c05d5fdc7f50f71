import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { spawn } from '@lydell/node-pty'
import { environmentOfAnyProgram } from './environment.ts'
import { patienceMs } from './patience.ts'
import { projectRoot } from './source-file.ts'

export const keys = { enter: '\r', down: '\u001b[B', ctrlC: '\u0003', clear: '\u0015' } as const

/** A command of Rollcall on a terminal, as a person uses it. Disposing of it ends it. */
export interface Terminal extends Disposable {
  /** Everything that was printed so far, without colours and movements. */
  text(): string
  /** Waits until this is printed after everything that was waited for before. */
  sees(words: string): Promise<void>
  /** Types at the terminal. */
  type(text: string): void
  kill(signal: NodeJS.Signals): void
  /** Resolves with the exit code. */
  readonly ended: Promise<number>
}

/** Starts `rollcall ARGS` on a pseudo-terminal, without the settings of this machine. */
export function startOnTerminal(
  args: readonly string[],
  {
    folder,
    env = {},
  }: { readonly folder: string; readonly env?: Readonly<Record<string, string>> },
): Terminal {
  const child = spawn(process.execPath, [join(projectRoot, 'src/start.js'), ...args], {
    cwd: folder,
    cols: 200,
    rows: 50,
    env: { ...environmentOfAnyProgram(), ...env, TERM: 'xterm' },
  })
  let text = ''
  let seen = 0
  let isEnded = false
  child.onData((data) => (text += stripVTControlCharacters(data)))
  const ended = new Promise<number>((resolve) =>
    child.onExit(({ exitCode }) => {
      isEnded = true
      resolve(exitCode)
    }),
  )
  return {
    text: () => text,
    async sees(words) {
      const until = performance.now() + patienceMs
      for (;;) {
        const at = text.indexOf(words, seen)
        if (at >= 0) {
          seen = at + words.length
          return
        }
        if (isEnded || performance.now() > until) {
          throw new Error(`The terminal does not show "${words}" after:\n${text}`)
        }
        await new Promise((done) => setTimeout(done, 10))
      }
    },
    type: (typed) => child.write(typed),
    kill: (signal) => child.kill(signal),
    ended,
    [Symbol.dispose]: () => {
      if (!isEnded) child.kill('SIGKILL')
    },
  }
}
