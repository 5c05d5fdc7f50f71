import { createInterface } from 'node:readline/promises'
import type { Notes } from './notes.ts'

/** Asks a question on standard error. Only a line of standard input that begins with y means yes. */
export async function confirm(question: string, notes: Notes, stop: AbortSignal): Promise<boolean> {
  notes.tell(`${question} [y/N]`)
  const lines = createInterface({ input: process.stdin, signal: stop })
  try {
    for await (const line of lines) return /^\s*y/i.test(line)
  } finally {
    lines.close()
    process.stdin.destroy()
  }
  return false
}
