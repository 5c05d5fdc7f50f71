import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { makeSignup } from './make-signup.ts'

/**
 * Signups of many people whose addresses are in no order and of many lengths, so that SQLite moves them
 * around as its indexes grow and shrink. The same ones each time.
 */
export function makeCrowd(count: number, crowd = 'crowd') {
  return Array.from({ length: count }, (_, at) => {
    const digest = createHash('sha256').update(`${crowd} ${at}`).digest('hex')
    const name = digest.slice(0, 8 + (parseInt(digest.slice(-2), 16) % 40))
    return makeSignup({ email: `p-${name}-${at}-z@example.com`, name: 'x'.repeat(at % 30) })
  })
}

/** The addresses of crowds that are in any file of this folder and below. */
export async function crowdIn(folder: string): Promise<ReadonlySet<string>> {
  const found = new Set<string>()
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const text = await readFile(join(entry.parentPath, entry.name), 'latin1')
    for (const [address] of text.matchAll(/p-[0-9a-f]+-\d+-z@example\.com/g)) found.add(address)
  }
  return found
}
