/** A sentence on how far back the journal sees. */
export function expiredNote(upTo: string): string {
  return `RETENTION_DAYS: the journal does not know any more what was written up to ${upTo}.`
}
