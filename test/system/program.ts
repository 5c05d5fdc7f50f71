import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'

/** Debian keeps servers where only root looks. */
export const path = `${process.env['PATH'] ?? ''}:/usr/sbin`

export async function end(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit')
  if (child.exitCode === null && child.kill()) await ended
}
