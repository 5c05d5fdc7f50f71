/** Whether it is an error of SQLite with one of these codes. An extended code counts as its base code. */
export function isOneOf(error: unknown, codes: readonly number[]): boolean {
  return codes.includes(codeOf(error) & 0xff)
}

/** Whether it is the error of SQLite with this extended code. */
export function isExactly(error: unknown, code: number): boolean {
  return codeOf(error) === code
}

function codeOf(error: unknown): number {
  return error instanceof Error && 'errcode' in error ? Number(error.errcode) : 0
}
