import { expiredFact } from '../journal/contracts/erasure.ts'
import type { Reader } from '../journal/contracts/reader.ts'

/**
 * Up to when the journal has lost the cells of written signups by `RETENTION_DAYS`: ISO 8601 in UTC. Null
 * when it has all.
 */
export async function expiredUpTo(reader: Pick<Reader, 'fact'>): Promise<string | null> {
  const fact = await reader.fact(expiredFact)
  return fact === undefined ? null : new Date(Number(fact)).toISOString()
}

/** A sentence on how far back the journal sees. */
export function expiredNote(upTo: string): string {
  return `RETENTION_DAYS: the journal does not know any more what was written up to ${upTo}.`
}
