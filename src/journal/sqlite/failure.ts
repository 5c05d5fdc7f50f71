import { JournalBusy, JournalUnavailable } from '../contracts/errors.ts'

/** SQLite's codes of errors: https://www.sqlite.org/rescode.html */
const codes = {
  busy: 5,
  locked: 6,
  readOnly: 8,
  ioError: 10,
  /** As when a file may not grow. */
  ioErrorOfWrite: 778,
  corrupt: 11,
  full: 13,
  cannotOpen: 14,
  noDatabase: 26,
} as const

/** Whether it is an error of SQLite of one of these kinds. */
export function isOneOf(error: unknown, ...kinds: readonly (keyof typeof codes)[]): boolean {
  const code = errcodeOf(error)
  // The lowest byte of an extended code is the code that it extends.
  return kinds.some((kind) => codes[kind] === code || codes[kind] === (code & 0xff))
}

/** The message of `OutcomeUnknown`. */
export const unknownOutcome =
  'The journal cannot be used: its disk did not tell what became of a commit.'

/** Turns SQLite's errors (disk full, I/O, locked) into the journal's, and returns other errors as they are. */
export function toUnavailable(error: unknown): unknown {
  if (!(error instanceof Error) || errcodeOf(error) === 0) return error
  const Kind = isOneOf(error, 'busy', 'locked') ? JournalBusy : JournalUnavailable
  return new Kind(`The journal cannot be used: ${error.message}.`, { cause: error })
}

/** The extended code of an error of SQLite; 0 for any other error. */
function errcodeOf(error: unknown): number {
  return error instanceof Error && 'errcode' in error ? Number(error.errcode) : 0
}
