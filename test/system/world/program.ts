import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'

/** The PATH with /usr/sbin, where Debian installs servers. */
export const path = `${process.env['PATH'] ?? ''}:/usr/sbin`

/** Ends a program and waits until it has exited. */
export async function end(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit')
  if (child.exitCode === null && child.kill()) await ended
}
