import type { ChildProcess } from 'node:child_process'

const kills = new Set<() => unknown>()

function killAll(): void {
  for (const kill of kills) kill()
}

process.once('exit', killAll)
// Vitest ends its workers by SIGTERM when they have run their file. That causes no 'exit'.
process.once('SIGTERM', () => {
  killAll()
  process.kill(process.pid, 'SIGTERM')
})

/** Kills a process when this one ends before it, so that a test that fails leaves nothing running. */
export function endWithUs<Child extends ChildProcess>(
  child: Child,
  kill: () => unknown = () => child.kill('SIGKILL'),
): Child {
  kills.add(kill)
  child.once('close', () => kills.delete(kill))
  return child
}
